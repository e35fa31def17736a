//! A domain without its server, and a service to mount, both from outside the workspace.

use std::sync::Arc;

use object_put::ObjectPut;
use tabs_api::browser::{Browser, Compat};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::Memory;
use triptych_core::time::Timestamp;

fn main() {
    // The engine reads no clock: it is told the time, and says when it wants to be told again.
    let browser = Browser::with_blank_window(Timestamp::from_seconds(0), Compat::Spec);
    assert!(browser.next_due().is_none(), "a browser at rest waits for nothing");

    // The service is a value; a router or a bare hyper loop runs it.
    let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(1)));
    let service = ObjectPut::builder(Arc::new(Memory::new()), blobs).build();
    mountable(&service);
}

/// The bounds that axum and other routers set to a service.
fn mountable<S: Clone + Send + Sync + 'static>(_service: &S) {}
