//! The engine on PostgreSQL's wire, on a real server: the laws of every engine, and faults of the network and of the server.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that meets the unexpected fails, and says how much it saw"
)]

mod fault;
#[path = "../engines/load.rs"]
mod load;
#[path = "../engines/operations.rs"]
mod operations;
mod refusal;
mod same_answers;
mod thread;
mod together;
mod url;
#[path = "../engines/wire.rs"]
mod wire;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use triptych_core::id::SeededIds;
use triptych_core::kv::{
    KeyValue, Postgres, PostgresConfig, PostgresServer, SharedKeyValue, conformance,
};

/// Time for a server to be reached.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server that tests share which leave it as it is: each has a schema of its own. It ends with the last test that holds it.
fn shared_server() -> Arc<PostgresServer> {
    static SERVER: Mutex<Weak<PostgresServer>> = Mutex::new(Weak::new());
    let mut server = SERVER.lock().unwrap();
    server.upgrade().unwrap_or_else(|| {
        let started = Arc::new(PostgresServer::start().unwrap());
        *server = Arc::downgrade(&started);
        started
    })
}

/// An engine on the tables of a schema.
fn open(server: &PostgresServer, schema: &str) -> Arc<Postgres> {
    let store = unreached(server, schema);
    store.wait_until_reached(PATIENCE).unwrap();
    Arc::new(store)
}

/// An engine that may not have reached its server yet.
fn unreached(server: &PostgresServer, schema: &str) -> Postgres {
    at(&server.url(), schema)
}

fn at(url: &str, schema: &str) -> Postgres {
    static ENGINES: AtomicU32 = AtomicU32::new(0);
    let url = url.parse().unwrap();
    let config = PostgresConfig { connections: 8, ..PostgresConfig::new(url, schema) };
    let number = ENGINES.fetch_add(1, Ordering::Relaxed).into();
    Postgres::connect(config, SeededIds::from_number(number)).unwrap()
}

#[test]
fn it_obeys_the_laws_of_every_engine() {
    let server = shared_server();
    let mut schemas = 0;
    conformance::all(&mut || {
        schemas += 1;
        let store: Arc<dyn KeyValue> = open(&server, &format!("store_{schemas}"));
        store
    });
    conformance::reopening(&mut || {
        let store: Arc<dyn KeyValue> = open(&server, "reopened");
        store
    });
}
