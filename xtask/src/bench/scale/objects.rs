//! object-put: PUTs of new keys, each with a body in a directory of its instance, so that what is compared is what they do to the store.

use anyhow::Result;
use hyper::body::Bytes;
use serde_json::json;
use triptych_core::kv::PostgresServer;

use super::instances::{Busy, Instances};
use super::raw::Engines;
use super::{INSTANCES, Kind, counted, expense};
use crate::bench::load::{CONNECTIONS, SPAN};
use crate::bench::object::load::{BUCKET, Connection, Target, Work};
use crate::bench::object::sign::{ACCESS_KEY, Draft, SECRET_KEY, Signer};
use crate::bench::report::Row;
use crate::run::service::Service;
use crate::simulation::Cost;

static BODY: [u8; 4 * 1024] = [7; 4 * 1024];
/// The root key that instances share.
const ROOT_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const PUTS: Kind = Kind {
    request: "object-put: PUTs of 4 KiB",
    engine: "guarded transactions of as many writers",
    expected: Some(0.6),
};

/// Requests of each connection whose costs are measured.
const EACH: u64 = 400;

/// Rates of PUTs beside transactions as theirs, and round trips; costs of a PUT, one over an object, a GET and a list.
///
/// # Errors
/// If an instance does not start, or anything is refused.
pub(super) fn measure(
    database: &PostgresServer,
    at: &dyn Fn(&str),
) -> Result<(Vec<Row>, [Cost; 4])> {
    let mut engines = Engines::connect(&database.url(), "raw", 1)?;
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
    let engine = |count| Busy::of(database, &instances, || engines.commits(count, CONNECTIONS));
    let mut rows = PUTS.measure(at, engine, |count, turn| {
        let put = |address| {
            // Each instance has clients of its own, which name no key that others name.
            let prefix = format!("{count}/{turn}/{address}").replace(':', "/");
            let work = Work::Put { prefix, body: Bytes::from_static(&BODY) };
            to(address).rate(&work, CONNECTIONS, SPAN)
        };
        Busy::of(database, &instances, || instances.rate(count, put))
    })?;
    at("transactions of several batches");
    rows.extend(together(database, &engines)?);
    at("round trips of object-put");
    let counted = round_trips(&first, &instances)?;
    at("costs of object-put");
    let costs = costs(database, &first, &instances, counted.each_ref().map(|row| row.value))?;
    rows.extend(counted);
    instances.stop()?;
    Ok((rows, costs))
}

/// Rates of the same batches where those that wait go in one transaction, as services commit them, beside a transaction for each.
fn together(database: &PostgresServer, alone: &Engines) -> Result<Vec<Row>> {
    let mut engines = Engines::connect(&database.url(), "together", 64)?;
    engines.write_guards()?;
    let row = |count| {
        let (value, limit) =
            (engines.commits(count, CONNECTIONS)?, alone.commits(count, CONNECTIONS)?);
        Ok(Row {
            what: format!("guarded batches that go together, engines: {count}"),
            value,
            unit: "batches/s",
            limit: Some((PUTS.engine.to_owned(), limit)),
            expected: None,
        })
    };
    [1, INSTANCES].into_iter().map(row).collect()
}

/// A list of 100 objects.
fn list(target: &Target) -> Result<String> {
    target.head(&Draft {
        method: "GET",
        path: &format!("/{BUCKET}"),
        query: "list-type=2&max-keys=100",
        ..Draft::default()
    })
}

/// The costs of each kind, whose round trips were counted.
fn costs(
    database: &PostgresServer,
    target: &Target,
    instances: &Instances,
    [put, replace, get, listed]: [f64; 4],
) -> Result<[Cost; 4]> {
    let prefix = "costs".to_owned();
    let body = Bytes::from_static(&BODY);
    let of_put = Work::Put { prefix: prefix.clone(), body };
    let of_get = Work::Get { prefix, writers: CONNECTIONS, keys: EACH, size: BODY.len() };
    let head = list(target)?;
    let size = Connection::open(target.address)?.exchange(&head, &[])?;
    let of_list = Work::Signed { heads: [head].into(), body: Bytes::new(), size };
    let cost = |work: &Work, round_trips| {
        expense::of(database, "object_put", instances, round_trips, || {
            target.rate_of(work, CONNECTIONS, EACH)
        })
    };
    Ok([cost(&of_put, put)?, cost(&of_put, replace)?, cost(&of_get, get)?, cost(&of_list, listed)?])
}

fn round_trips(target: &Target, instances: &Instances) -> Result<[Row; 4]> {
    let mut connection = Connection::open(target.address)?;
    let mut of_object = |what: &str, method: &str, body: &[u8]| {
        counted(&format!("object-put: {what}"), instances, |number| {
            let path = format!("/{BUCKET}/counted/{number}");
            let head = target.signer.head(method, target.address, &path, body.len())?;
            connection.exchange(&head, body).map(drop)
        })
    };
    let put = of_object("PUT of a new object", "PUT", &BODY)?;
    let replace = of_object("PUT over an object", "PUT", &BODY)?;
    let get = of_object("GET", "GET", &[])?;
    let head = list(target)?;
    let listed = counted("object-put: a list of 100", instances, |_| {
        connection.exchange(&head, &[]).map(drop)
    })?;
    Ok([put, replace, get, listed])
}
