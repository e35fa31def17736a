//! The service under a bare hyper loop; its bucket `demo` takes requests signed with this key.
use std::sync::Arc;

use hyper::server::conn::http1::Builder;
use object_put::ObjectPut;
use object_put::auth::account::Secret;
use object_put::maintenance::seed::Seed;
use triptych_core::{blobs::MemoryBlobs, id::SeededIds, kv::Memory};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let blobs = MemoryBlobs::new(SeededIds::from_number(1));
    let service = ObjectPut::builder(Arc::new(Memory::new()), Arc::new(blobs))
        .seed(Seed::of_key("KEY".into(), Secret::new("SECRET".into())))
        .build();
    service.apply_seed().await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:7802").await?;
    loop {
        let io = hyper_util::rt::TokioIo::new(listener.accept().await?.0);
        tokio::spawn(Builder::new().serve_connection(io, service.clone()));
    }
}
