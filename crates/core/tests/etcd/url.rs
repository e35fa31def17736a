//! URLs of clusters: what of them is shown, and where they are encrypted.

use triptych_core::kv::{EtcdUrl, EtcdUrlError};

fn read(text: &str) -> Result<EtcdUrl, EtcdUrlError> {
    text.parse()
}

#[test]
fn neither_a_url_nor_its_refusal_shows_the_password() {
    let url = read("etcd://alice:hunter2%40@localhost,[::1]:2380?sslrootcert=/ca.pem").unwrap();
    assert_eq!(url.to_string(), "etcd://alice@localhost:2379,[::1]:2380");
    assert_eq!(format!("{url:?}"), "\"etcd://alice@localhost:2379,[::1]:2380\"");
    for bad in [
        "etcd://alice:hunter2@localhost:port",
        "etcd://hunter2@localhost",
        "etcd://alice:hunter2@localhost?hunter=hunter2",
        "etcd://alice:hunter2@localhost,",
        "etcd://alice:hunter2@localhost/hunter2",
        "postgres://alice:hunter2@localhost/shop",
    ] {
        let refused = read(bad).unwrap_err();
        assert!(!format!("{refused} {refused:?}").contains("hunter2"), "{refused:?}");
    }
}

#[test]
fn a_server_elsewhere_is_reached_by_tls_unless_the_url_says_otherwise() {
    let is_encrypted = |text: &str| read(text).map(|url| url.is_encrypted());
    assert_eq!(is_encrypted("etcd://127.0.0.1:2379,[::1]"), Ok(false));
    assert_eq!(is_encrypted("etcd://db.example?sslmode=disable"), Ok(false));
    assert_eq!(is_encrypted("etcd://db?sslmode=prefer"), Err(EtcdUrlError::Parameter));
    let with_tls = if cfg!(feature = "tls") { Ok(true) } else { Err(EtcdUrlError::NoTls) };
    for url in ["etcd://db.example", "etcd://localhost,db.example"] {
        assert_eq!(is_encrypted(url), with_tls);
    }
}
