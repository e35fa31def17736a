//! Servers that are not there yet, and servers that must not be used.

use triptych_core::kv::{Batch, KeyValue, PostgresServer, SharedKeyValue, StoreError};

use super::{PATIENCE, at, open, shared_server, unreached};

/// The sentence with which a server is refused.
fn refused(server: &PostgresServer) -> String {
    unreached(server, "refused").wait_until_reached(PATIENCE).unwrap_err()
}

#[test]
fn a_server_that_acknowledges_before_its_disk_is_refused() {
    let server = PostgresServer::start_with(&["fsync=off"]).unwrap();
    let why = refused(&server);
    assert!(why.contains("runs with fsync = off"), "{why}");
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'refused'";
    assert_eq!(server.run(schemas).unwrap(), "0");
}

#[cfg(feature = "tls")]
#[test]
fn every_mode_that_encrypts_checks_the_certificate_and_the_name_in_it() {
    let server = PostgresServer::start_encrypted("localhost").unwrap();
    let port = server.address().port();
    let url = |host: &str, mode: &str, trusted: &std::path::Path| {
        let trusted = trusted.display();
        format!("postgres://triptych@{host}:{port}/postgres?sslmode={mode}&sslrootcert={trusted}")
    };
    let other = PostgresServer::start_encrypted("localhost").unwrap();
    let modes = ["require", "verify-ca", "verify-full"];
    for mode in modes {
        let store = at(&url("localhost", mode, &server.certificate()), "encrypted");
        store.wait_until_reached(PATIENCE).unwrap();
        let plain = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND NOT ssl";
        assert_eq!(server.run(plain).unwrap(), "0", "{mode}");
    }
    std::thread::scope(|scope| {
        for mode in modes {
            // Another authority, and another name of the same server.
            for refused in [
                url("localhost", mode, &other.certificate()),
                url("127.0.0.1", mode, &server.certificate()),
            ] {
                scope.spawn(move || {
                    let why = at(&refused, "encrypted").get(b"k").unwrap_err();
                    assert!(why.to_string().contains("certificate"), "{mode}: {why}");
                });
            }
        }
    });
}

#[test]
fn a_database_whose_commits_do_not_wait_for_the_disk_is_refused() {
    let server = shared_server();
    server.run("CREATE DATABASE hasty").unwrap();
    server.run("ALTER DATABASE hasty SET synchronous_commit = off").unwrap();
    let store = at(&server.url().replace("/postgres", "/hasty"), "refused");
    let why = store.wait_until_reached(PATIENCE).unwrap_err();
    assert!(why.contains("runs with synchronous_commit = off"), "{why}");
}

#[test]
fn a_schema_of_a_later_release_is_refused_and_left_as_it_is() {
    let server = shared_server();
    drop(open(&server, "refused"));
    server.run("UPDATE refused.facts SET value = '1000' WHERE name = 'format'").unwrap();
    let why = refused(&server);
    assert!(why.contains("of format 1000, which a later release made"), "{why}");
}

#[test]
fn a_store_that_is_away_says_so_and_comes_back_by_itself() {
    let mut server = PostgresServer::start().unwrap();
    server.crash().unwrap();
    let store = unreached(&server, "away");
    let told = store.get(b"k").unwrap_err();
    assert!(matches!(told, StoreError::Unavailable(_)), "{told}");
    assert!(told.to_string().contains("127.0.0.1"), "{told}");
    assert!(store.health().is_err());
    server.resume().unwrap();
    store.wait_until_reached(PATIENCE).unwrap();
    assert_eq!(store.get(b"k").unwrap().value, None);
    assert_eq!(store.health(), Ok(()));
}

#[test]
fn the_first_fact_of_a_name_stays() {
    let server = shared_server();
    let (one, other) = (open(&server, "facts"), open(&server, "facts"));
    assert_eq!(one.claim("root key", "a").unwrap(), "a");
    assert_eq!(other.claim("root key", "b").unwrap(), "a");
    assert_eq!(open(&server, "others").claim("root key", "b").unwrap(), "b");
}

#[test]
fn several_instances_that_start_at_once_make_one_schema() {
    let server = shared_server();
    let stores: Vec<_> = (0..4).map(|_| unreached(&server, "shared")).collect();
    for store in &stores {
        store.wait_until_reached(PATIENCE).unwrap();
    }
    assert_eq!(server.run("SELECT count(*) FROM shared.facts").unwrap(), "1");
}

#[test]
fn an_engine_that_runs_while_a_later_release_moves_the_schema_on_writes_nothing_more() {
    let server = shared_server();
    let store = open(&server, "moved");
    let put = |value: &'static str| {
        let writes = vec![("k".into(), Some(value.into()))];
        store.commit(Batch { writes, ..Batch::default() }).wait()
    };
    put("before").unwrap();
    server.run("UPDATE moved.facts SET value = '2' WHERE name = 'format'").unwrap();
    let refused = loop {
        if let Err(error) = put("meanwhile") {
            break error.to_string();
        }
    };
    assert!(refused.contains("of format 2, which a later release made"), "{refused}");
    assert!(store.health().unwrap_err().contains("a later release"), "{:?}", store.health());
}
