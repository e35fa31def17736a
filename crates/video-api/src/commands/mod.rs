//! Sub-commands that work on a data directory whose server is stopped: `generate`, `export` and `import`.

mod export;
mod external_sort;
mod generate;
mod import;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use indicatif::{ProgressBar, ProgressStyle};
use triptych_core::host::flags::Flags;
use video_api::caption::translation::Translator;
use video_api::http::LibreTranslate;

/// Adds the sub-commands.
pub(crate) fn augment(command: Command) -> Command {
    let file = |help: &'static str| {
        Arg::new("file")
            .value_name("FILE")
            .required(true)
            .value_parser(value_parser!(PathBuf))
            .help(help)
    };
    let count = |id: &'static str, default: &'static str, help: &'static str| {
        Arg::new(id)
            .long(id)
            .value_name("N")
            .value_parser(value_parser!(u64))
            .default_value(default)
            .help(help)
    };
    command
        .arg(
            Arg::new("translator")
                .long("translator")
                .env("VIDEO_API_TRANSLATOR")
                .value_name("URL")
                .global(true)
                .help("LibreTranslate server that translates captions, as http://HOST:PORT"),
        )
        .arg(
            Arg::new("translator-key")
                .long("translator-key")
                .env("VIDEO_API_TRANSLATOR_KEY")
                .value_name("KEY")
                .hide_env_values(true)
                .global(true)
                .help("Key that the translator wants"),
        )
        .arg(
            Arg::new("translator-ms-max")
                .long("translator-ms-max")
                .env("VIDEO_API_TRANSLATOR_MS_MAX")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .default_value("10000")
                .global(true)
                .help("Longest time for each answer of the translator"),
        )
        .subcommand(
            Command::new("generate")
                .about("Fill an empty data directory with channels, videos, playlists and comments")
                .arg(count("channels", "100", "How many channels"))
                .arg(count("videos", "10000", "How many videos, spread over the channels"))
                .arg(count(
                    "busy-threads",
                    "0",
                    "How many threads of comments more the last public video has",
                ))
                .arg(count(
                    "busy-subscriptions",
                    "0",
                    "To how many channels, of the first ones, the last channel subscribes at least",
                ))
                .arg(
                    // Its parser is that of the common flag of this name, which reads a file; here any text is a seed.
                    Arg::new("seed")
                        .long("seed")
                        .value_name("SEED")
                        .value_parser(value_parser!(PathBuf))
                        .default_value("1")
                        .help("What everything follows from: the same seed gives the same data"),
                ),
        )
        .subcommand(
            Command::new("export")
                .about(
                    "Write everything that a data directory holds to a file; its server is stopped",
                )
                .arg(file("The file; - for standard output")),
        )
        .subcommand(
            Command::new("import")
                .about("Fill an empty data directory with what export wrote")
                .arg(file("The file; - for standard input")),
        )
}

/// The translator that the flags name.
pub(crate) fn translator(matches: &ArgMatches) -> Result<Option<Arc<dyn Translator>>, String> {
    let Some(url) = matches.get_one::<String>("translator") else {
        return Ok(None);
    };
    let millis = matches.get_one::<u64>("translator-ms-max").copied().unwrap_or_default();
    let key = matches.get_one::<String>("translator-key").cloned();
    let server = LibreTranslate::new(url, key, Duration::from_millis(millis))?;
    Ok(Some(Arc::new(server)))
}

/// Runs the sub-command of this name; `None` if it is none of these.
pub(crate) fn run(name: &str, matches: &ArgMatches) -> Option<ExitCode> {
    let work = match name {
        "generate" => generate::run,
        "export" => export::run,
        "import" => import::run,
        _ => return None,
    };
    let mut flags = Flags::from_matches(matches);
    flags.seed = None;
    let Some(data) = flags.data.clone() else {
        return Some(refused(name, "memory holds nothing: name a directory with --data"));
    };
    Some(match work(&flags, &data, matches) {
        Ok(done) => {
            let _ = writeln!(std::io::stderr(), "{done}");
            ExitCode::SUCCESS
        }
        Err(why) => refused(name, &why),
    })
}

fn refused(name: &str, why: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "video-api {name}: {why}");
    ExitCode::FAILURE
}

fn file(matches: &ArgMatches) -> PathBuf {
    matches.get_one::<PathBuf>("file").cloned().unwrap_or_default()
}

fn at_path(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// An error with what caused it.
fn with_causes(error: impl std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn progress(what: &'static str, most: u64) -> ProgressBar {
    let bar = if most > 0 {
        let style =
            ProgressStyle::with_template("{bar:32} {human_pos}/{human_len} {msg}, {eta} left");
        ProgressBar::new(most).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    } else {
        let style = ProgressStyle::with_template("{spinner} {human_pos} {msg}, {elapsed}");
        ProgressBar::new_spinner()
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
    };
    bar.with_message(what)
}
