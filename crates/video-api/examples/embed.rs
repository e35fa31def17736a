//! The service under a bare hyper loop: the key is KEY, and TOKEN is the demo account's.
use std::sync::Arc;

use hyper::server::conn::http1::Builder;
use triptych_core::{blobs::MemoryBlobs, id::SeededIds, kv::Memory};
use video_api::{http::VideoApi, seed::Seed};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let blobs = MemoryBlobs::new(SeededIds::from_number(1));
    let service = VideoApi::builder(Arc::new(Memory::new()), Arc::new(blobs))
        .seed(Seed::of_credentials("KEY", "TOKEN"))
        .build();
    service.apply_seed().await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:7801").await?;
    loop {
        let io = hyper_util::rt::TokioIo::new(listener.accept().await?.0);
        tokio::spawn(Builder::new().serve_connection(io, service.clone()));
    }
}
