//! URLs of object stores.

use triptych_core::blobs::remote::{Location, LocationError};

#[test]
fn a_url_names_a_store_and_what_it_needs() {
    for (text, shown) in [
        ("s3://bodies", "s3://bodies/"),
        ("s3://bodies/a/b/", "s3://bodies/a/b"),
        (
            "s3://bodies/a?endpoint=http://127.0.0.1:9/&region=eu&timeout-ms=9",
            "s3://bodies/a on http://127.0.0.1:9",
        ),
        ("gs://bodies/a", "gs://bodies/a"),
        ("az://bodies/a?account=me", "az://bodies/a"),
        ("file:///srv/bodies", "file:///srv/bodies"),
    ] {
        assert_eq!(Location::parse(text).unwrap().to_string(), shown);
    }
}

#[test]
fn what_is_no_store_is_refused_and_no_secret_is_repeated() {
    for (text, error) in [
        ("ftp://a/b", LocationError::Form("ftp://...".into())),
        ("s3:///b", LocationError::Form("s3://...".into())),
        ("s3://bu cket:secret", LocationError::Form("s3://...".into())),
        ("file://host/b", LocationError::Form("file://...".into())),
        ("s3://key:secret@bodies/a", LocationError::Credentials),
        ("s3://bodies?endpoint=http://key:secret@host", LocationError::Credentials),
        ("s3://bodies?endpoint=host", LocationError::Parameter("endpoint".into())),
        ("s3://bodies?timeout-ms=0", LocationError::Parameter("timeout-ms".into())),
        ("s3://bodies?secret_access_key=x", {
            LocationError::Parameter("secret_access_key".into())
        }),
    ] {
        let refused = Location::parse(text).unwrap_err();
        assert_eq!(refused, error, "{text}");
        assert!(!refused.to_string().contains("secret@"), "{refused}");
    }
}
