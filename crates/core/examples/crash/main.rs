//! Kills writers of the stores, or cuts their power, and looks for what was acknowledged.
//!
//! ```text
//! cargo run -p triptych-core --example crash --features sled,testing -- kill 20
//! cargo run -p triptych-core --example crash --features sled,testing -- cut 5
//! cargo run -p triptych-core --example crash --features sled,testing -- cut 5 --without-sync
//! ```
//!
//! A power cut stops the writer, copies the image below its file system, kills the writer and mounts the copy:
//! what never reached the device is gone. It needs root and loop devices, and fails where they are missing.
//! Every second round writes records alone, because the syncs of blobs carry much of sled's file to the device too.
//! `--without-sync` leaves out the one call that makes sled durable: the cut must find losses then.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program at the terminal that measures time"
)]

mod round;
mod verify;
mod writer;

use std::path::Path;
use std::process::ExitCode;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["write", directory, rest @ ..] => writer::run(
            Path::new(directory),
            rest.contains(&"--without-sync"),
            rest.contains(&"--records-alone"),
        ),
        ["verify", directory, how] => verify::run(Path::new(directory), *how == "cut"),
        [how @ ("kill" | "cut"), count, rest @ ..] => {
            round::run(how, count, rest.contains(&"--without-sync"))
        }
        _ => Err("usage: crash kill|cut COUNT [--without-sync]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
