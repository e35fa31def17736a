//! Clients of object-put written in Rust, unmodified: `object_store` and `aws-sdk-s3`.

mod aws_sdk;
mod object_store;

/// The value that the runner gives these tests under a name.
fn variable(name: &str) -> String {
    std::env::var(format!("TRIPTYCH_OBJECT_{name}")).unwrap()
}

/// Tells whether a bucket of this name is a directory bucket.
fn is_directory(bucket: &str) -> bool {
    bucket.ends_with("--x-s3")
}

/// A client of plain HTTP, for addresses that others signed.
fn http() -> reqwest::Client {
    install_provider();
    reqwest::Client::new()
}

/// Installs what `rustls` computes with. A second test of this process finds it installed.
fn install_provider() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
