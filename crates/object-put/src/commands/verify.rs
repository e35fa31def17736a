//! `verify`: records of a data directory against its bodies.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::ArgMatches;
use object_put::maintenance::verify::{VerifyEvent, VerifyReport, verify};
use triptych_core::host::flags::Flags;
use triptych_core::host::launch::print;
use triptych_core::host::storage;

use super::root_keys::keyring;

/// Gives 0 if all is well, 1 if something is damaged, 2 if the check could not be made.
pub(super) fn run(matches: &ArgMatches) -> ExitCode {
    match findings(matches) {
        Err(why) => {
            say(&format!("object-put verify: {why}"));
            ExitCode::from(2)
        }
        Ok(VerifyReport { versions, bytes, faults, customer_keys, foreign_keys }) => {
            let unopened = |count, whose| match count {
                0 => String::new(),
                some => format!(", {some} that need {whose}"),
            };
            let customers = unopened(customer_keys, "a customer's key");
            let foreign = unopened(foreign_keys, "a key of a key service");
            say(&format!(
                "{versions} versions of {bytes} bytes, {faults} faults{customers}{foreign}"
            ));
            ExitCode::from(u8::from(faults > 0))
        }
    }
}

/// Writes a line; the exit code tells the outcome whoever reads it.
fn say(line: &str) {
    let _ = print(format!("{line}\n"));
}

/// Checks the store of `--data`, which must be there: nothing is made, neither a directory nor a key.
fn findings(matches: &ArgMatches) -> Result<VerifyReport, String> {
    let flags = Flags::from_matches(&crate::PRODUCT, matches);
    let data = flags
        .data
        .as_deref()
        .ok_or("memory holds nothing to verify: name a directory with --data")?;
    storage::check_existing(&flags).map_err(|error| error.to_string())?;
    let deep = matches.get_flag("deep");
    let has_key = data.join("root-key").is_file()
        || matches.contains_id("root-key")
        || matches.contains_id("root-key-file");
    if deep && !has_key {
        return Err("without its root-key no body can be opened: give --root-key-file, or check without --deep".to_owned());
    }
    let stores = storage::open(&flags).map_err(|error| error.to_string())?;
    let ring = if deep {
        Some(keyring(&stores, matches).map_err(|error| error.to_string())?)
    } else {
        None
    };
    let shows = std::io::stderr().is_terminal();
    verify(&*stores.kv, &*stores.blobs, ring.as_ref(), &mut |note| match note {
        VerifyEvent::Fault(fault) => say(&fault.to_string()),
        VerifyEvent::Progress(so_far) if shows => {
            eprint!("\r{} versions, {} faults so far ", so_far.versions, so_far.faults)
        }
        VerifyEvent::Progress(_) => {}
    })
    .inspect(|_| {
        if shows {
            eprintln!();
        }
    })
    .map_err(|error| error.to_string())
}
