//! The service under a bare hyper loop; its one extension has the token `demo-token`.
use hyper::server::conn::http1::Builder;
use tabs_api::{http::TabsApi, seed::Seed};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let extension =
        r#"{"token": "demo-token", "manifest": {"name": "Demo", "permissions": ["tabs"]}}"#;
    let seed = Seed::parse(&format!(r#"{{"extensions": [{extension}]}}"#))?;
    let service = TabsApi::builder().seed(seed).build()?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:7803").await?;
    loop {
        let io = hyper_util::rt::TokioIo::new(listener.accept().await?.0);
        let connection = Builder::new().serve_connection(io, service.clone());
        tokio::spawn(connection.with_upgrades());
    }
}
