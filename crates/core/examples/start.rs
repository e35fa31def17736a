//! Opens a store of records as a service does at its start, and tells how long that took.
//!
//! ```text
//! cargo run --release -p triptych-core --example start --features redb -- sled /srv/object-put/kv
//! ```
//!
//! No service may run on the directory. Nothing of it changes but what each start changes.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program at the terminal that measures time"
)]

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use triptych_core::kv::{Sled, SledConfig, TreeKind};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [tree, directory] => run(tree, Path::new(directory)),
        _ => Err("usage: start sled|redb DIRECTORY".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(tree: &str, directory: &Path) -> Outcome<()> {
    let tree = TreeKind::named(tree).ok_or("no such tree in this build")?;
    let config = SledConfig { tree, ..SledConfig::new(directory) };
    let begun = Instant::now();
    let store = Sled::open(&config)?;
    let seconds = begun.elapsed().as_secs_f64();
    if let Some(rebuilt) = store.rebuilt() {
        return Err(format!("its index was filled anew: {rebuilt:?}").into());
    }
    println!("{seconds}");
    Ok(())
}
