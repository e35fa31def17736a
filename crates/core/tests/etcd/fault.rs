//! Members that fall or are cut off, under load: nothing that was acknowledged is lost, and nothing is applied twice.

use std::cell::RefCell;
use std::sync::Arc;

use triptych_core::kv::{Batch, EtcdCluster, KeyValue, SharedKeyValue, Wire};

use super::load::under_load;
use super::wire::under_all_weathers;

/// The leader, once there is one.
fn leader(cluster: &RefCell<EtcdCluster>) -> usize {
    loop {
        if let Some(leader) = cluster.borrow().leader() {
            return leader;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_leader_that_is_killed_under_load_loses_nothing_that_was_acknowledged() {
    let cluster = RefCell::new(EtcdCluster::start().unwrap());
    let store = super::open(&cluster.borrow(), "killed");
    under_load(&store, 4, || {
        let leader = leader(&cluster);
        cluster.borrow_mut().kill(leader).unwrap();
        // The others elect one of them while the writers go on.
        self::leader(&cluster);
        cluster.borrow_mut().revive(leader).unwrap();
    });
    assert!(store.stats().outcomes_asked > 0, "no answer was lost: {:?}", store.stats());
}

#[test]
fn a_leader_that_is_cut_off_under_load_loses_nothing_that_was_acknowledged() {
    let cluster = RefCell::new(EtcdCluster::start().unwrap());
    let store = super::open(&cluster.borrow(), "cut");
    under_load(&store, 2, || {
        let leader = leader(&cluster);
        cluster.borrow().pause(leader).unwrap();
        let acknowledged = store.get(b"shared").unwrap().version();
        // The others go on without it, and the store with them.
        while store.get(b"shared").unwrap().version() == acknowledged {
            std::thread::yield_now();
        }
        cluster.borrow().go_on(leader).unwrap();
    });
    assert!(store.stats().outcomes_asked > 0, "no answer was lost: {:?}", store.stats());
}

#[test]
fn a_batch_that_was_applied_is_not_applied_again_under_its_name() {
    let cluster = super::shared_cluster();
    let store = super::open(&cluster, "named");
    let batch = |value: &'static str| Batch {
        id: [9; 16],
        writes: vec![("k".into(), Some(value.into()))],
        ..Batch::default()
    };
    let first = store.commit(batch("first")).wait().unwrap();
    assert_eq!(store.commit(batch("second")).wait(), Ok(first));
    assert_eq!(store.get(b"k").unwrap().value, Some("first".into()));
}

/// Asks a cluster by its client, past the engine.
fn past_the_engine<F: Future>(
    cluster: &EtcdCluster,
    ask: impl FnOnce(etcd_client::Client) -> F,
) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let servers = cluster.url().replace("etcd://", "");
        let servers: Vec<_> = servers.split(',').collect();
        ask(etcd_client::Client::connect(&servers, None).await.unwrap()).await
    })
}

#[test]
fn a_batch_that_was_given_up_can_never_be_applied_any_more() {
    let cluster = super::shared_cluster();
    let store = super::open(&cluster, "fenced");
    let name = [b"fenced/batches/".as_slice(), &[7; 16]].concat();
    past_the_engine(&cluster, |mut client| async move {
        client.put(name, "0", None).await.unwrap();
    });
    let writes = vec![("k".into(), Some("v".into()))];
    store.commit(Batch { id: [7; 16], writes, ..Batch::default() }).wait().unwrap();
    // The engine found its name given up, and applied the batch under another.
    let options = etcd_client::GetOptions::new().with_prefix();
    let found = past_the_engine(&cluster, |mut client| async move {
        client.get("fenced/batches/", Some(options)).await.unwrap()
    });
    let mut values: Vec<_> = found.kvs().iter().map(|id| (id.value(), id.lease() != 0)).collect();
    values.sort_unstable();
    assert_eq!(values, [(b"0".as_slice(), false), (b"1".as_slice(), true)]);
}

#[test]
fn a_lease_that_ended_early_costs_another_attempt_and_no_batch() {
    let cluster = super::shared_cluster();
    let store = super::open(&cluster, "lease");
    let put = |value: &'static str| {
        let writes = vec![("k".into(), Some(value.into()))];
        store.commit(Batch { writes, ..Batch::default() }).wait().unwrap();
    };
    put("one");
    let ended = past_the_engine(&cluster, |mut client| async move {
        let options = etcd_client::GetOptions::new().with_prefix();
        let ids = client.get("lease/batches/", Some(options)).await.unwrap();
        let lease = ids.kvs()[0].lease();
        let time = client.lease_time_to_live(lease, None).await.unwrap();
        client.lease_revoke(lease).await.unwrap();
        time.granted_ttl()
    });
    assert!(ended >= 3_600, "an id is forgotten after {ended} seconds");
    put("two");
    assert_eq!(store.get(b"k").unwrap().value, Some("two".into()));
}

#[test]
fn a_wire_that_is_cut_at_random_bytes_and_loses_answers_loses_no_batch_and_applies_none_twice() {
    let cluster = super::shared_cluster();
    let wire = Wire::start(&cluster.addresses(), 1).unwrap();
    let own: Vec<_> = wire.addresses().iter().map(ToString::to_string).collect();
    let store = Arc::new(super::at(&format!("etcd://{}", own.join(",")), "wired"));
    // A connection begins with a question of more than 80,000 bytes.
    under_all_weathers(&store, &wire, 300_000);
}
