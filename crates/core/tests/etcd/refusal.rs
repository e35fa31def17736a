//! Clusters that are not there yet, and clusters that must not be used.

use triptych_core::kv::{EtcdCluster, KeyValue, SharedKeyValue, StoreError};

use super::{PATIENCE, at, open, shared_cluster};

#[test]
fn a_cluster_whose_transactions_are_too_small_is_refused_with_the_flag_that_it_misses() {
    let cluster = EtcdCluster::start_with(&[]).unwrap();
    let store = at(&cluster.url(), "refused");
    let why = store.wait_until_reached(PATIENCE).unwrap_err();
    assert!(why.contains("start each etcd of the cluster with --max-txn-ops=2048"), "{why}");
    let told = store.get(b"k").unwrap_err();
    assert!(told.to_string().contains("--max-txn-ops=2048"), "{told}");
}

#[test]
fn keys_of_a_later_release_are_refused_and_left_as_they_are() {
    let cluster = shared_cluster();
    for (schema, format) in [("later", "1000"), ("none", "first")] {
        set_format(&cluster, schema, format);
        let why = at(&cluster.url(), schema).wait_until_reached(PATIENCE).unwrap_err();
        assert!(why.contains(format), "{why}");
    }
}

fn set_format(cluster: &EtcdCluster, schema: &str, format: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let servers = cluster.url().replace("etcd://", "");
        let servers: Vec<_> = servers.split(',').collect();
        let mut client = etcd_client::Client::connect(&servers, None).await.unwrap();
        client.put(format!("{schema}/facts/format"), format, None).await.unwrap();
    });
}

#[test]
fn a_release_that_is_overtaken_stops_using_the_store() {
    let cluster = shared_cluster();
    let store = open(&cluster, "overtaken");
    set_format(&cluster, "overtaken", "1000");
    while store.health().is_ok() {
        std::thread::yield_now();
    }
    let told = store.get(b"k").unwrap_err();
    assert!(matches!(told, StoreError::Unavailable(_)), "{told}");
}

#[test]
fn a_store_that_is_away_says_so_and_comes_back_by_itself() {
    let mut cluster = EtcdCluster::start().unwrap();
    (0..3).for_each(|number| cluster.kill(number).unwrap());
    let store = at(&cluster.url(), "away");
    let told = store.get(b"k").unwrap_err();
    assert!(matches!(told, StoreError::Unavailable(_)), "{told}");
    assert!(told.to_string().contains("127.0.0.1"), "{told}");
    assert!(store.health().is_err());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| store.wait_until_reached(PATIENCE * 2));
        cluster.revive_all().unwrap();
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(store.get(b"k").unwrap().value, None);
    assert_eq!(store.health(), Ok(()));
}

#[test]
fn the_first_fact_of_a_name_stays() {
    let cluster = shared_cluster();
    let (one, other) = (open(&cluster, "facts"), open(&cluster, "facts"));
    assert_eq!(one.claim("root key", "a").unwrap(), "a");
    assert_eq!(other.claim("root key", "b").unwrap(), "a");
    assert_eq!(open(&cluster, "others").claim("root key", "b").unwrap(), "b");
}

#[test]
fn a_page_of_large_rows_and_a_read_of_many_keys_are_whole() {
    use triptych_core::kv::{Batch, Span, VALUE_BYTES_MAX};
    let cluster = shared_cluster();
    let store = open(&cluster, "large");
    let value = bytes::Bytes::from(vec![7; VALUE_BYTES_MAX]);
    for batch in 0..8 {
        let row = |number: u32| (format!("row/{batch}/{number}").into(), Some(value.clone()));
        let writes = (0..15).map(row).collect();
        store.commit(Batch { writes, ..Batch::default() }).wait().unwrap();
    }
    let page = store.scan(&Span::of("row/"), 1_000).unwrap();
    assert_eq!((page.rows.len(), page.more), (120, false));
    assert!(page.rows.iter().all(|(_, found)| *found == value));
    let keys: Vec<_> = (0..5_000).map(|number| format!("row/{}/{number}", number % 8)).collect();
    let keys: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
    let found = store.get_many(&keys).unwrap();
    assert_eq!(found.iter().filter(|found| found.value.is_some()).count(), 15);
}
