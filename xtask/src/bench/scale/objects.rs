//! object-put: PUTs of new keys, each with a body in a directory of its instance, so that what is compared is what they do to the store.

use anyhow::Result;
use hyper::body::Bytes;
use serde_json::json;
use triptych_core::kv::PostgresServer;

use super::instances::{Busy, Instances};
use super::raw::Engines;
use super::{INSTANCES, Kind, counted};
use crate::bench::load::{CONNECTIONS, SPAN};
use crate::bench::object::load::{BUCKET, Connection, Target, Work};
use crate::bench::object::sign::{ACCESS_KEY, Draft, SECRET_KEY, Signer};
use crate::bench::report::Row;
use crate::run::service::Service;

static BODY: [u8; 4 * 1024] = [7; 4 * 1024];
/// The root key that instances share.
const ROOT_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const PUTS: Kind = Kind {
    request: "object-put: PUTs of 4 KiB",
    engine: "guarded transactions of as many writers",
    expected: Some(0.6),
};

/// Rates of PUTs beside transactions as theirs, and round trips.
///
/// # Errors
/// If an instance does not start, or anything is refused.
pub(super) fn measure(database: &PostgresServer, at: &dyn Fn(&str)) -> Result<Vec<Row>> {
    let mut engines = Engines::connect(&database.url(), "raw", INSTANCES)?;
    engines.write_guards()?;
    let account = json!({
        "id": "111122223333", "canonicalId": "a".repeat(64), "displayName": "bench", "email": "bench@example.com",
        "keys": [{ "accessKeyId": ACCESS_KEY, "secretAccessKey": SECRET_KEY, "allow": ["*"] }],
    });
    let seed = json!({ "region": "us-east-1", "accounts": [account], "buckets": [] });
    let (service, flags) = (Service::find("object")?, ["--root-key", ROOT_KEY]);
    let instances = Instances::start(service, &database.url(), &seed, &flags, INSTANCES)?;
    let signer = Signer::now()?;
    let to = |address| Target { address, signer: signer.clone() };
    let first = to(instances.first()?);
    first.make_bucket()?;
    let engine = |count| engines.commits(count, CONNECTIONS);
    let mut rows = PUTS.measure(at, engine, |count, turn| {
        let put = |address| {
            // Each instance has clients of its own, which name no key that others name.
            let prefix = format!("{count}/{turn}/{address}").replace(':', "/");
            let work = Work::Put { prefix, body: Bytes::from_static(&BODY) };
            to(address).rate(&work, CONNECTIONS, SPAN)
        };
        Busy::of(database, &instances, || instances.rate(count, put))
    })?;
    at("round trips of object-put");
    rows.extend(round_trips(&first, &instances)?);
    instances.stop()?;
    Ok(rows)
}

fn round_trips(target: &Target, instances: &Instances) -> Result<Vec<Row>> {
    let mut connection = Connection::open(target.address)?;
    let mut rows = Vec::new();
    for (what, method, body) in [
        ("PUT of a new object", "PUT", BODY.as_slice()),
        ("PUT over an object", "PUT", &BODY),
        ("GET", "GET", &[]),
    ] {
        rows.push(counted(&format!("object-put: {what}"), instances, |number| {
            let path = format!("/{BUCKET}/counted/{number}");
            let head = target.signer.head(method, target.address, &path, body.len())?;
            connection.exchange(&head, body).map(drop)
        })?);
    }
    let list = Draft {
        method: "GET",
        path: &format!("/{BUCKET}"),
        query: "list-type=2&max-keys=100",
        ..Draft::default()
    };
    let head = target.head(&list)?;
    rows.push(counted("object-put: a list of 100", instances, |_| {
        connection.exchange(&head, &[]).map(drop)
    })?);
    Ok(rows)
}
