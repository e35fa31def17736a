//! Sub-commands that work on a data directory whose server is stopped: `generate`, `export` and `import`.

mod external_sort;
mod generate;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use indicatif::{ProgressBar, ProgressStyle};
use triptych_core::host::flags::Flags;
use triptych_core::host::launch::Archive;
use video_api::caption::translation::Translator;
use video_api::http::LibreTranslate;
use video_api::state::archive::RowCodec;

/// Time between two pictures of work that does not say how far it is.
const TICK: Duration = Duration::from_millis(500);

/// Whole stores as files.
const ARCHIVE: Archive = Archive { codec: &RowCodec, exported: "", imported: "" };

/// Adds the sub-commands.
pub(crate) fn augment(command: Command) -> Command {
    let count = |id: &'static str, default: &'static str, help: &'static str| {
        Arg::new(id)
            .long(id)
            .value_name("N")
            .value_parser(value_parser!(u64))
            .default_value(default)
            .help(help)
    };
    Archive::augment(command)
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
    if name != "generate" {
        return ARCHIVE.run(&crate::PRODUCT, name, matches);
    }
    let mut flags = Flags::from_matches(&crate::PRODUCT, matches);
    flags.seed = None;
    let done = match flags.data.clone() {
        None => Err("memory holds nothing: name a directory with --data".to_owned()),
        Some(data) => generate::run(&flags, &data, matches),
    };
    let (code, line) = match done {
        Ok(done) => (ExitCode::SUCCESS, done),
        Err(why) => (ExitCode::FAILURE, format!("video-api {name}: {why}")),
    };
    let _ = writeln!(std::io::stderr(), "{line}");
    Some(code)
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
        let spinner = ProgressBar::new_spinner()
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        spinner.enable_steady_tick(TICK);
        spinner
    };
    bar.with_message(what)
}
