//! The engine on etcd, on a real cluster of three: the laws of every engine, and faults of its members.

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
mod url;
#[path = "../engines/wire.rs"]
mod wire;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use triptych_core::id::SeededIds;
use triptych_core::kv::{Etcd, EtcdCluster, EtcdConfig, KeyValue, SharedKeyValue, conformance};

/// Time for a cluster to be reached.
const PATIENCE: Duration = Duration::from_secs(60);

/// The cluster that tests share which leave it as it is: each has a schema of its own. It ends with the last test that holds it.
fn shared_cluster() -> Arc<EtcdCluster> {
    static CLUSTER: Mutex<Weak<EtcdCluster>> = Mutex::new(Weak::new());
    let mut cluster = CLUSTER.lock().unwrap();
    cluster.upgrade().unwrap_or_else(|| {
        let started = Arc::new(EtcdCluster::start().unwrap());
        *cluster = Arc::downgrade(&started);
        started
    })
}

/// An engine on the keys below a schema.
fn open(cluster: &EtcdCluster, schema: &str) -> Arc<Etcd> {
    let store = at(&cluster.url(), schema);
    store.wait_until_reached(PATIENCE).unwrap();
    Arc::new(store)
}

/// An engine that may not have reached its cluster yet.
fn at(url: &str, schema: &str) -> Etcd {
    static ENGINES: AtomicU32 = AtomicU32::new(0);
    let url = url.parse().unwrap();
    let config = EtcdConfig { connections: 6, ..EtcdConfig::new(url, schema) };
    let number = ENGINES.fetch_add(1, Ordering::Relaxed).into();
    Etcd::connect(config, SeededIds::from_number(number)).unwrap()
}

#[test]
fn it_obeys_the_laws_of_every_engine() {
    let cluster = shared_cluster();
    let mut schemas = 0;
    conformance::all(&mut || {
        schemas += 1;
        let store: Arc<dyn KeyValue> = open(&cluster, &format!("store_{schemas}"));
        store
    });
    conformance::reopening(&mut || {
        let store: Arc<dyn KeyValue> = open(&cluster, "reopened");
        store
    });
}
