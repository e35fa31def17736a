//! Reads that wait for the network hold up nothing else.

use triptych_core::kv::KeyValue;

#[test]
fn a_read_that_waits_on_a_thread_of_a_runtime_lets_its_other_tasks_go_on() {
    let server = super::shared_server();
    let store = super::open(&server, "slow");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let held = std::thread::scope(|scope| {
        // It holds the lock until it is told to end.
        let lock = "BEGIN; LOCK TABLE slow.kv IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(3600)";
        let holder = scope.spawn(|| server.run(lock));
        let held = "FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND relation = 'slow.kv'::regclass";
        while server.run(&format!("SELECT count(*) {held}")).unwrap() == "0" {}
        let reader = runtime.spawn({
            let store = std::sync::Arc::clone(&store);
            async move { store.get(b"k") }
        });
        // Each of these needs the only thread that the runtime has.
        for _ in 0..100 {
            runtime.block_on(async { tokio::spawn(tokio::task::yield_now()).await.unwrap() });
        }
        let was_waiting = !reader.is_finished();
        server.run(&format!("SELECT pg_terminate_backend(pid) {held}")).unwrap();
        holder.join().unwrap().unwrap_err();
        assert_eq!(runtime.block_on(reader).unwrap().unwrap().value, None);
        was_waiting
    });
    assert!(held, "the read did not wait for the lock, so that this shows nothing");
}
