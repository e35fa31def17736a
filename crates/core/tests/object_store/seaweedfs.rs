//! The laws of blobs on a server that others wrote: SeaweedFS, which is installed beside the Python clients.

use std::sync::Arc;
use std::time::Duration;

use triptych_core::blobs::conformance;
use triptych_core::blobs::remote::{Location, RemoteBlobs, SeaweedFs};
use triptych_core::id::{Ids as _, SystemIds};

/// An empty place in the server's bucket.
fn place(server: &SeaweedFs) -> Location {
    Location::parse(&server.place(&format!("{:x}", SystemIds.next()))).unwrap()
}

fn open(place: &Location) -> RemoteBlobs {
    RemoteBlobs::open(place, SystemIds.fork()).unwrap()
}

#[test]
fn seaweedfs_obeys_the_laws_of_every_blob_store() {
    let server = SeaweedFs::start().unwrap();
    conformance::all(&mut || Arc::new(open(&place(&server)).with_orphan_wait(Duration::ZERO)));
    let reopened = place(&server);
    conformance::reopening(&mut || Arc::new(open(&reopened)));
    let marked = place(&server);
    assert_eq!(open(&marked).identity(), Ok(None));
    open(&marked).set_identity("one").unwrap();
    assert_eq!(open(&marked).identity(), Ok(Some("one".to_owned())));
    open(&marked).set_identity("two").unwrap_err();
}
