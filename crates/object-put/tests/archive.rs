//! A store that was exported and imported is the same store: bodies, versions, locks, accounts and keys.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::io::Cursor;
use std::sync::Arc;

use object_put::body::encryption::Keyring;
use object_put::maintenance::archive::RowCodec;
use object_put::maintenance::verify::verify;
use service::{Draft, NOW, World};
use sha2::{Digest as _, Sha256};
use triptych_core::archive::{Checkpoint, End, Import, Watch, export};
use triptych_core::blobs::{Blobs, MemoryBlobs};
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory};

struct Stores(Arc<Memory>, Arc<MemoryBlobs>);

fn stores(seed: u64) -> Stores {
    Stores(Arc::new(Memory::new()), Arc::new(MemoryBlobs::new(SeededIds::from_number(seed))))
}

impl Stores {
    async fn world(&self) -> World {
        let (store, blobs): (Arc<dyn KeyValue>, Arc<dyn Blobs>) = (self.0.clone(), self.1.clone());
        World::on(store, blobs, NOW).await
    }

    fn export(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut ids = SeededIds::from_number(6);
        export(&RowCodec, &*self.0, &*self.1, &mut ids, &mut out, |_, _| {}).unwrap();
        out
    }

    fn import(&self, text: &[u8]) -> Result<u64, String> {
        self.go_on(text, &mut LastCheckpoint::default())
    }

    fn go_on(&self, text: &[u8], witness: &mut LastCheckpoint) -> Result<u64, String> {
        let import = Import {
            codec: &RowCodec,
            store: &*self.0,
            blobs: &*self.1,
            ids: &mut SeededIds::from_number(7),
            now: NOW,
            from: witness.0.clone(),
            end: End::find(text),
            step_bytes: 2_000,
        };
        import.run(&mut Cursor::new(text), witness).map_err(|error| error.to_string())
    }
}

#[derive(Default)]
struct LastCheckpoint(Option<Checkpoint>);

impl Watch for LastCheckpoint {
    fn progress(&mut self, _rows: u64, _bytes: u64) {}

    fn save(&mut self, checkpoint: &Checkpoint) -> std::io::Result<()> {
        self.0 = Some(checkpoint.clone());
        Ok(())
    }
}

async fn filled() -> Stores {
    let stores = stores(3);
    let world = stores.world().await;
    world.store("/bkt/empty", b"").await;
    world.store("/bkt/replaced", b"old").await;
    world.store("/bkt/replaced", b"new").await;
    for body in [vec![1; 100], vec![2; 300_000]] {
        world.store("/versioned/k", &body).await;
    }
    world.send(&Draft::new("DELETE", "/versioned/k", b"")).await;
    let held = Draft::put("/locked/k", b"held")
        .with("x-store-object-lock-legal-hold", "ON")
        .with("x-store-meta-a", "\u{e9}")
        .with("content-md5", "sCxRjWpBJFBzKQA5dC1F/A==");
    let _ = world.send(&held).await;
    // An upload in parts that is not finished.
    let begun = world.send(&Draft::new("POST", "/bkt/parts?uploads", b"")).await;
    let upload = begun.element("UploadId").unwrap();
    world.store(&format!("/bkt/parts?uploadId={upload}&partNumber=1"), &vec![3; 70_000]).await;
    world.send(&Draft::document("/bkt?policy", br#"{"Statement": {"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::bkt/no"}}"#)).await;
    stores
}

async fn seen(stores: &Stores) -> Vec<String> {
    let world = stores.world().await;
    let mut seen = Vec::new();
    for target in [
        "/",
        "/bkt",
        "/versioned?versions",
        "/locked?versions",
        "/bkt/empty",
        "/bkt/replaced",
        "/bkt/no",
        "/bkt?policy",
        "/locked/k",
        "/locked/k?legal-hold",
    ] {
        let answer = world.fetch(target).await;
        seen.push(format!(
            "{target} {} {:?} {:?}",
            answer.status,
            answer.header("etag"),
            answer.element("Code").unwrap_or_else(|| answer.text())
        ));
    }
    let ids = world.fetch("/versioned?versions").await.text();
    for id in
        ids.split("<VersionId>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned())
    {
        let answer = world.fetch(&format!("/versioned/k?versionId={id}")).await;
        seen.push(format!("{id} {} {}", answer.status, answer.body.len()));
    }
    seen
}

#[tokio::test]
async fn an_imported_store_is_the_exported_one() {
    let first = filled().await;
    let text = first.export();
    let second = stores(4);
    let rows = second.import(&text).unwrap();
    assert!(rows > 10);
    assert_eq!(seen(&second).await, seen(&first).await);
    let ring = Keyring::new(&[9; 32]);
    let report = verify(&*second.0, &*second.1, Some(&ring), &mut |_| {}).unwrap();
    assert_eq!(report.faults, 0);
    // Again exported, only the names of bodies differ.
    assert_eq!(second.export().len(), text.len());
    assert!(second.import(&text).unwrap_err().contains("not empty"));
}

#[tokio::test]
async fn an_import_that_was_cut_after_any_line_ends_in_the_same_store() {
    let first = filled().await;
    let text = first.export();
    let wanted = seen(&first).await;
    let whole = stores(5);
    whole.import(&text).unwrap();
    let bodies = whole.1.list(None, usize::MAX).unwrap().len();
    let mut end = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let (second, mut witness) = (stores(4), LastCheckpoint::default());
        assert!(second.go_on(&text[..end], &mut witness).is_err(), "{end} bytes");
        let second = if witness.0.is_some() { second } else { stores(4) };
        second.go_on(&text, &mut witness).unwrap();
        assert_eq!(second.1.list(None, usize::MAX).unwrap().len(), bodies, "after {end} bytes");
        assert_eq!(second.export().len(), text.len(), "after {end} bytes");
        // Now and then all of what is shown.
        if end % 7 == 0 {
            assert_eq!(seen(&second).await, wanted, "after {end} bytes");
        }
        end += line.len();
    }
}

#[tokio::test]
async fn a_file_that_is_not_whole_is_refused_with_its_line() {
    let text = filled().await.export();
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    // Cut after each line, and within one.
    for end in 0..lines.len() {
        assert!(stores(5).import(&lines[..end].concat()).is_err(), "{end} lines");
    }
    assert!(stores(5).import(&text[..text.len() - 2]).is_err());
    // One line left out, doubled, or changed.
    for place in 0..lines.len() {
        let mut without = lines.clone();
        without.remove(place);
        assert!(stores(5).import(&without.concat()).is_err(), "without line {place}");
        let mut twice = lines.clone();
        twice.insert(place, lines[place]);
        assert!(stores(5).import(&twice.concat()).is_err(), "line {place} twice");
        let mut changed = lines.concat();
        let at = lines[..place].concat().len() + lines[place].len() / 2;
        changed[at] ^= 1;
        assert!(stores(5).import(&changed).is_err(), "a flipped bit in line {place}");
    }
    for wrong in [
        "",
        "{}\n",
        "{\"format\":\"video-api-export\",\"version\":1}\n",
        "{\"format\":\"object-put-export\",\"version\":2}\n",
    ] {
        assert!(stores(5).import(wrong.as_bytes()).is_err(), "{wrong}");
    }
}

#[test]
fn an_archive_as_every_release_wrote_it_is_read() {
    // A row whose value is empty, as its table and its key in base64.
    let lines = "{\"format\":\"object-put-export\",\"version\":1}\n{\"key\":\"GGFiAAE\",\"format\":0,\"bytes\":\"\"}\n";
    let sha256 = hex::encode(Sha256::digest(lines));
    let text = format!("{lines}{{\"rows\":1,\"bodies\":0,\"sha256\":\"{sha256}\"}}\n");
    let store = stores(1);
    assert_eq!(store.import(text.as_bytes()), Ok(1));
    assert_eq!(store.export(), text.as_bytes());
}
