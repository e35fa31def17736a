//! The proxy of `packaging/scale/` in front of instances of a test's own.

use std::io::{Error, Result};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::{Client, until, workspace_file};
use crate::free_ports::free_ports;
use crate::id::{Ids as _, SystemIds};

/// The settings that are tried.
const SETTINGS: &str = "packaging/scale/nginx.conf";

/// A running nginx with the settings of `packaging/scale/`, but for names and ports. It ends with this.
#[derive(Debug)]
pub struct Nginx {
    child: Child,
    directory: PathBuf,
    port: u16,
}

impl Nginx {
    /// Starts it in front of the instances of one service, which its settings have by this name.
    ///
    /// # Errors
    /// If it is not installed, or does not take its settings.
    pub fn start(service: &str, instances: &[Client]) -> Result<Self> {
        let directory =
            std::env::temp_dir().join(format!("triptych-nginx-{:016x}", SystemIds.next()));
        std::fs::create_dir(&directory)?;
        let settings = std::fs::read_to_string(workspace_file(SETTINGS)?)?;
        let (settings, port) = placed(&settings, service, instances)?;
        let file = directory.join("nginx.conf");
        std::fs::write(&file, settings)?;
        let mut command = Command::new("nginx");
        command.arg("-p").arg(&directory).arg("-c").arg(&file);
        let own = format!("daemon off; pid {0}/pid; error_log {0}/error.log;", directory.display());
        command.args(["-g", &own]).stdin(Stdio::null()).stdout(Stdio::null());
        let missing = |error| Error::other(format!("apt-get install nginx-light: {error}"));
        let child = command.stderr(Stdio::null()).spawn().map_err(missing)?;
        let mut proxy = Self { child, directory, port };
        let listens = until(|| {
            let ended = proxy.child.try_wait().ok().flatten().map(|_| false);
            ended.or_else(|| TcpStream::connect(("127.0.0.1", port)).is_ok().then_some(true))
        });
        if listens == Some(true) {
            return Ok(proxy);
        }
        let why = std::fs::read_to_string(proxy.directory.join("error.log")).unwrap_or_default();
        Err(Error::other(why))
    }

    /// A client that asks it.
    #[must_use]
    pub const fn client(&self) -> Client {
        Client { port: self.port }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its workers end with it where it is told, and would stay where it is killed.
        let id = self.child.id().to_string();
        let told = Command::new("kill").args(["-TERM", &id]).status();
        if !told.is_ok_and(|told| told.success()) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// The settings with the addresses of these instances in the places of the service's, and free ports to listen on; with the port of the service.
fn placed(settings: &str, service: &str, instances: &[Client]) -> Result<(String, u16)> {
    // The name of a host is that of the service and a number.
    let named = |line: &str| {
        let host = line.trim().strip_prefix("server ")?.split([' ', ';']).next()?;
        host.split_once(':').map(|(host, port)| (host.to_owned(), port.to_owned()))
    };
    let own_port = settings
        .lines()
        .filter_map(named)
        .find_map(|(host, port)| host.starts_with(service).then_some(port))
        .ok_or_else(|| Error::other(format!("the settings name no {service}")))?;
    let mut ports = free_ports(settings.matches("listen ").count())?.into_iter();
    let (mut text, mut listens) = (String::new(), 0);
    for line in settings.lines() {
        let mut line = line.to_owned();
        if let Some((host, port)) = named(&line) {
            let number = host.strip_prefix(service).and_then(|rest| rest.strip_prefix('-'));
            let number = number.and_then(|number| number.parse::<usize>().ok());
            let instance = number.and_then(|number| instances.get(number.checked_sub(1)?));
            // Nobody asks for the other services.
            let place = instance.map_or(9, |instance| instance.port);
            line = line.replace(&format!("{host}:{port}"), &format!("127.0.0.1:{place}"));
        } else if let Some(rest) = line.trim().strip_prefix("listen ") {
            let port = ports.next().unwrap_or_default();
            if rest.trim_end_matches(';') == own_port {
                listens = port;
            }
            line = format!("listen 127.0.0.1:{port};");
        }
        text += &line;
        text.push('\n');
    }
    Ok((text, listens))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_the_package_but_for_names_and_ports() {
        let settings = "upstream a {\n    server a-1:7801;\n    server a-2:7801 backup;\n    server b-1:7802;\n}\nlisten 7801;\nlisten 7802;\n";
        let instances = [Client { port: 1 }, Client { port: 2 }];
        let (text, port) = placed(settings, "a", &instances).unwrap();
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        assert_eq!(
            lines[1..4],
            ["server 127.0.0.1:1;", "server 127.0.0.1:2 backup;", "server 127.0.0.1:9;"]
        );
        assert_eq!(lines[5], format!("listen 127.0.0.1:{port};"));
        assert!(placed(settings, "c", &instances).is_err());
    }
}
