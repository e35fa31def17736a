//! URLs of databases: what of them is shown, and where they are encrypted.

use triptych_core::kv::{PostgresUrl, PostgresUrlError};

fn read(text: &str) -> Result<PostgresUrl, PostgresUrlError> {
    text.parse()
}

#[test]
fn neither_a_url_nor_its_refusal_shows_the_password() {
    let url = "postgres://alice:hunter2@localhost:5433/shop?application_name=x&sslrootcert=/ca.pem";
    let url = read(url).unwrap();
    assert_eq!(url.to_string(), "postgres://alice@localhost:5433/shop");
    assert_eq!(format!("{url:?}"), "\"postgres://alice@localhost:5433/shop\"");
    for bad in [
        "postgres://alice:hunter2@localhost:port/shop",
        "postgres://alice:hunter2@localhost/shop?hunter=hunter2",
        "mysql://alice:hunter2@localhost/shop",
        "postgres:///shop?user=alice&password=hunter2",
    ] {
        let refused = read(bad).unwrap_err();
        assert!(!format!("{refused} {refused:?}").contains("hunter2"), "{refused:?}");
    }
}

#[test]
fn a_server_elsewhere_is_reached_by_tls_unless_the_url_says_otherwise() {
    let is_encrypted = |text: &str| read(text).map(|url| url.is_encrypted());
    assert_eq!(is_encrypted("postgres://a@127.0.0.1/d"), Ok(false));
    assert_eq!(is_encrypted("postgres://a@db.example/d?sslmode=disable"), Ok(false));
    assert_eq!(is_encrypted("postgres://a@db/d?sslmode=prefer"), Err(PostgresUrlError::Prefer));
    let with_tls = if cfg!(feature = "tls") { Ok(true) } else { Err(PostgresUrlError::NoTls) };
    for url in ["postgres://a@db.example/d", "postgres://a@localhost,db.example/d"] {
        assert_eq!(is_encrypted(url), with_tls);
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = format!("postgres://a@localhost/d?connect_timeout=3&sslmode={mode}");
        assert_eq!(is_encrypted(&format!("{url}&sslrootcert=/etc/a%20b.pem")), with_tls, "{mode}");
        assert_eq!(is_encrypted(&format!("{url}&sslrootcert=system")), with_tls, "{mode}");
    }
}

#[test]
fn what_a_url_says_of_tls_and_nobody_would_heed_is_refused_by_its_name() {
    let refused = |parameter: &str| read(&format!("postgres://a@db/d?{parameter}")).unwrap_err();
    assert_eq!(refused("sslmode=allow"), PostgresUrlError::Prefer);
    for mode in ["verify_full", "VERIFY-FULL", ""] {
        let why = refused(&format!("sslmode={mode}"));
        assert_eq!(why, PostgresUrlError::Mode);
        assert!(why.to_string().contains("sslmode=verify-full"), "{why}");
    }
    for name in ["sslcert", "sslkey", "sslcrl", "sslpassword"] {
        let why = refused(&format!("sslmode=verify-full&{name}=/home/hunter2"));
        assert_eq!(why, PostgresUrlError::NotOfTls(name.to_owned()));
        assert!(!why.to_string().contains("hunter2"), "{why}");
    }
}
