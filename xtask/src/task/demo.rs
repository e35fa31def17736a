//! The demonstration: the lines that `up` prints, and one real job a service by its real client.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::run::clients;
use crate::run::process::watch;
use crate::run::service::{Service, tail};
use crate::run::workspace::{root, target};
use crate::task::e2e;

/// The credentials that the demo data lets in: labels and values.
///
/// # Errors
/// If the seed file cannot be read.
pub(crate) fn credentials(service: &Service) -> Result<Vec<(&'static str, String)>> {
    let text = std::fs::read_to_string(service.demo_seed())?;
    Ok(e2e::credentials(service, &serde_json::from_str(&text)?))
}

/// Lines that work when pasted at the repository's root while the service runs at `url`.
///
/// # Errors
/// If the seed file cannot be read.
pub(crate) fn lines(service: &Service, url: &str) -> Result<Vec<String>> {
    let known = credentials(service)?;
    let value = |what: &str| {
        known.iter().find(|(name, _)| *name == what).map_or("", |(_, value)| value.as_str())
    };
    Ok(match service.short {
        "object" => {
            let sign = format!(
                "-H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' --aws-sigv4 aws:amz:{}:s3 --user {}:{}",
                value("REGION"),
                value("ACCESS_KEY"),
                value("SECRET_KEY")
            );
            vec![
                format!("curl -fsS {sign} -T README.md {url}/demo/README.md"),
                format!("curl -fsS {sign} {url}/demo/README.md"),
            ]
        }
        "video" => {
            let key = value("API_KEY");
            vec![
                format!(
                    "curl -fsS '{url}/youtube/v3/channels?part=snippet&forHandle=@alice&key={key}'"
                ),
                format!(
                    "curl -fsS '{url}/youtube/v3/playlists?part=snippet,status' -H 'Authorization: Bearer {}' -H 'Content-Type: application/json' -d '{{\"snippet\":{{\"title\":\"First\"}},\"status\":{{\"privacyStatus\":\"public\"}}}}'",
                    value("TOKEN")
                ),
            ]
        }
        _ => {
            let bearer = format!(
                "-H 'Authorization: Bearer {}' -H 'Content-Type: application/json'",
                value("TOKEN")
            );
            vec![
                format!(
                    "curl -fsS {url}/v1/tabs/create {bearer} -d '[{{\"url\":\"https://example.com/\"}}]'"
                ),
                format!("curl -fsS {url}/v1/tabs/query {bearer} -d '[{{}}]'"),
            ]
        }
    })
}

/// Pastes every printed line, then runs the service's job, and prints what happened.
///
/// # Errors
/// Which line or job failed, with what it said.
pub(crate) fn run(service: &Service, url: &str) -> Result<()> {
    println!("\n{} at work:", service.name);
    for line in lines(service, url)? {
        let mut shell = Command::new("sh");
        step(service, shell.args(["-c", &line]), &line)?;
    }
    let (mut command, script) = job(service);
    for (what, value) in credentials(service)? {
        command.env(service.variable(what), value);
    }
    let said = step(service, command.env(service.variable("URL"), url), script)?;
    for line in said.lines() {
        println!("  {line}");
    }
    Ok(())
}

/// The script that does the job, run by its interpreter.
fn job(service: &Service) -> (Command, &'static str) {
    let (mut command, script) = match service.short {
        "object" => (Command::new(clients::python()), "packaging/demo/object_put.py"),
        "video" => (Command::new(clients::python()), "packaging/demo/video_api.py"),
        _ => (Command::new("node"), "packaging/demo/tabs-api.mjs"),
    };
    command.arg(script);
    (command, script)
}

fn step(service: &Service, command: &mut Command, what: &str) -> Result<String> {
    let log = target().join("xtask").join(format!("demo-{}.log", service.short));
    let limit = Duration::from_secs(120);
    let ended = watch(command.current_dir(root()), &log, limit, |_| {})?;
    if ended.success {
        return Ok(ended.text);
    }
    bail!("{}: this did not work: {what}{}", service.name, tail(&log, 30))
}
