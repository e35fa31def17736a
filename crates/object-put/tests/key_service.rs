//! A key service on the network whose account is none of those here, and one that uses another key than it was told to.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use object_put::auth::account::Secret;
use object_put::kms::json_protocol::KeyServiceAccess;
use object_put::server::{KeyServiceTransport, RemoteKeyService};
use serde_json::{Value, json};
use service::{Draft, NOW, World};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::host::CallMetrics;
use triptych_core::id::SeededIds;
use triptych_core::kv::Memory;

const ID: &str = "134f2428-cec1-4b25-a1ae-000000000001";
const ALIAS: &str = "alias/mine";
/// The account of the key service.
const ACCOUNT: &str = "999988887777";
const MODE: &str = "x-store-server-side-encryption";
const KEY: &str = "x-store-server-side-encryption-kms-key-id";
const ZONAL: &str = "mybkt--use1-az4--x-s3";

fn arn(id: &str) -> String {
    format!("arn:aws:kms:us-east-1:{ACCOUNT}:key/{id}")
}

/// The answer of a service with one key, or with another one in its place.
fn answer(request: &Value, lies: bool) -> (u16, Value) {
    let named = request["KeyId"].as_str().unwrap();
    if named != ID && named != ALIAS && named != arn(ID) {
        return (400, json!({ "__type": "NotFoundException", "message": named }));
    }
    let used = arn(if lies { "134f2428-cec1-4b25-a1ae-000000000002" } else { ID });
    let key = STANDARD.encode([7; 32]);
    let sealed = STANDARD.encode("sealed");
    let described = json!({ "Arn": used });
    (
        200,
        json!({ "KeyId": used, "Plaintext": key, "CiphertextBlob": sealed, "KeyMetadata": described }),
    )
}

async fn serve(mut connection: TcpStream, lies: bool) {
    let mut request = Vec::new();
    // A body of JSON is whole once it can be read.
    let body = loop {
        let mut bytes = [0; 4096];
        let length = connection.read(&mut bytes).await.unwrap();
        assert_ne!(length, 0, "a request that is cut off");
        request.extend_from_slice(&bytes[..length]);
        let text = String::from_utf8_lossy(&request);
        let body = text.split_once("\r\n\r\n").map(|(_, body)| serde_json::from_str(body));
        if let Some(Ok(body)) = body {
            break body;
        }
    };
    let (status, body) = answer(&body, lies);
    let body = body.to_string();
    let head = format!("HTTP/1.1 {status} -\r\ncontent-length: {}\r\n\r\n", body.len());
    connection.write_all([head, body].concat().as_bytes()).await.unwrap();
}

/// A world whose keys are those of such a service. While the flag says so it lies.
async fn world() -> (World, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let access = KeyServiceAccess {
        host: listener.local_addr().unwrap().to_string(),
        region: "us-east-1".to_owned(),
        access_key: "key".to_owned(),
        secret: Secret::new("secret".to_owned()),
        session_token: None,
    };
    let lies = Arc::new(AtomicBool::new(false));
    let lying = Arc::clone(&lies);
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(serve(connection, lying.load(Ordering::Relaxed)));
        }
    });
    let remote = RemoteKeyService {
        access,
        transport: KeyServiceTransport::Plain,
        calls: CallMetrics::default(),
    };
    let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
    let store = Arc::new(Memory::new());
    let world = World::of(|builder| builder.key_service(remote), store, blobs, NOW).await;
    (world.unwrap(), lies)
}

fn default_of(key: &str) -> Vec<u8> {
    format!("<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms</SSEAlgorithm><KMSMasterKeyID>{key}</KMSMasterKeyID></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>").into_bytes()
}

#[tokio::test]
async fn the_key_of_a_bucket_is_the_one_that_its_name_means_to_the_key_service() {
    let (world, _) = world().await;
    for name in [ID.to_owned(), ALIAS.to_owned(), arn(ID)] {
        let set = world.send(&Draft::document("/bkt?encryption", &default_of(&name))).await;
        assert_eq!(set.status, 200, "{}", set.text());
        let named = Draft::put("/bkt/k", b"body").with(MODE, "aws:kms").with(KEY, name.clone());
        for put in [Draft::put("/bkt/k", b"body"), named] {
            let put = world.send(&put).await;
            assert_eq!(put.status, 200, "{name}: {}", put.text());
            let header = put.header("x-amz-server-side-encryption-aws-kms-key-id");
            assert_eq!(header, Some(arn(ID).as_str()), "{name}");
            assert_eq!(world.fetch("/bkt/k").await.body, b"body");
        }
        let shown = world.fetch("/bkt?encryption").await;
        assert_eq!(shown.element("KMSMasterKeyID"), Some(name));
    }
}

#[tokio::test]
async fn the_key_of_a_directory_bucket_may_be_named_by_id_and_by_arn() {
    let (world, _) = world().await;
    let control = |name: &str| {
        let target = format!("/{ZONAL}?encryption");
        Draft { service: "s3express", ..Draft::put(&target, &default_of(name)) }
    };
    for (first, then) in [(ID.to_owned(), arn(ID)), (arn(ID), ID.to_owned())] {
        let set = world.send(&control(&first)).await;
        assert_eq!(set.status, 200, "{}", set.text());
        let session = world.session(NOW).await;
        let put = || Draft::zonal("PUT", "/k", b"body").within(&session);
        let named = |name: &str| put().with(MODE, "aws:kms").with(KEY, name);
        for put in [put(), named(&first), named(&then)] {
            let put = world.send(&put).await;
            assert_eq!(put.status, 200, "{first}: {}", put.text());
            let read = world.send(&Draft::zonal("GET", "/k", b"").within(&session)).await;
            assert_eq!(read.body, b"body");
        }
        let again = world.send(&control(&then)).await;
        assert_eq!(again.status, 200, "the same key by its other name: {}", again.text());
        for put in [put(), named(&first), named(&then)] {
            let put = world.send(&put).await;
            assert_eq!(put.status, 200, "{then} behind a session: {}", put.text());
        }
        let other = world.send(&control(&arn("other"))).await;
        assert_eq!(other.status, 400, "a second key");
    }
}

#[tokio::test]
async fn a_key_service_that_used_another_key_than_the_one_named_is_not_believed() {
    let (world, lies) = world().await;
    lies.store(true, Ordering::Relaxed);
    for name in [ID.to_owned(), arn(ID)] {
        for mode in ["aws:kms", "aws:kms:dsse"] {
            let put = Draft::put("/bkt/k", b"body").with(MODE, mode).with(KEY, name.clone());
            let refused = world.send(&put).await;
            assert_eq!(refused.status, 503, "{name}: {}", refused.text());
            assert_eq!(world.fetch("/bkt/k").await.status, 404, "something was stored");
        }
    }
    lies.store(false, Ordering::Relaxed);
    let put = Draft::put("/bkt/k", b"body").with(MODE, "aws:kms").with(KEY, ID);
    assert_eq!(world.send(&put).await.status, 200);
}
