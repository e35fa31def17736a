//! Readers that do not read: what the process holds for each, at once and once it has stalled.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use anyhow::Result;

use super::load::{BUCKET, Work};
use super::{LARGE, MIB, Own, body};
use crate::bench::report::Row;

const READERS: usize = 200;
/// The moments at which the memory is looked at, and what a reader may cost then.
const MOMENTS: [(Duration, &str, f64); 2] = [
    (Duration::from_millis(500), "that has just begun", 1.0),
    (Duration::from_secs(4), "that has stalled", 0.25),
];

/// The memory that a reader costs.
///
/// # Errors
/// If the server does not start or answer.
pub(super) fn measure(at: &dyn Fn(&str)) -> Result<Vec<Row>> {
    at("readers that do not read");
    let own = Own::start()?;
    own.target.rate_of(&Work::Put { prefix: "slow".into(), body: body(LARGE) }, 1, 1)?;
    let head =
        own.target.signer.head("GET", own.target.address, &format!("/{BUCKET}/slow/0/0"), 0)?;
    let before = own.memory_mib("VmRSS:")?;
    let mut readers = Vec::new();
    for _ in 0..READERS {
        let mut stream = TcpStream::connect(own.target.address)?;
        stream.write_all(head.as_bytes())?;
        readers.push(stream);
    }
    let mut rows = Vec::new();
    for (moment, which, mib_max) in MOMENTS {
        std::thread::sleep(moment);
        #[expect(clippy::cast_precision_loss, reason = "a few hundred readers")]
        let each = (own.memory_mib("VmRSS:")? - before).max(0.001) / READERS as f64;
        rows.push(Row {
            what: format!(
                "a reader {which} holds {:.0} KiB of {READERS} that ask for {} MiB: how often that fits",
                each * 1_024.0,
                LARGE / MIB
            ),
            value: mib_max / each,
            unit: "times",
            limit: Some((format!("once in {mib_max} MiB"), 1.0)),
            expected: Some(1.0),
        });
    }
    drop(readers);
    own.server.stop()?;
    Ok(rows)
}
