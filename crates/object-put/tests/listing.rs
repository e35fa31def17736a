//! Loops of "list a page, delete it, go on": nothing stays behind.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use service::{Draft, NOW, World};

/// The elements called `name` of a listing, each as its text.
fn elements<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let parts = text.split(open.as_str()).skip(1);
    parts.map(|part| part.split(close.as_str()).next().unwrap()).collect()
}

/// Lists pages of `most`, deletes each, and gives how many versions were deleted.
async fn empty(world: &World, bucket: &str, most: usize) -> usize {
    let mut marker = String::new();
    let mut deleted = 0;
    loop {
        let target = format!("/{bucket}?versions&max-keys={most}{marker}");
        let page = world.fetch(&target).await.text();
        for kind in ["Version", "DeleteMarker"] {
            for version in elements(&page, kind) {
                let (key, id) = (elements(version, "Key"), elements(version, "VersionId"));
                let target =
                    format!("/{bucket}/{}?versionId={}", key[0].replace(' ', "%20"), id[0]);
                let answer = world.send(&Draft::new("DELETE", &target, b"")).await;
                assert_eq!(answer.status, 204, "{}", answer.text());
                deleted += 1;
            }
        }
        let (key, version) =
            (elements(&page, "NextKeyMarker"), elements(&page, "NextVersionIdMarker"));
        let (Some(key), Some(version)) = (key.first(), version.first()) else {
            return deleted;
        };
        let key = key.replace(' ', "%20");
        marker = format!("&key-marker={key}&version-id-marker={version}");
    }
}

#[tokio::test]
async fn a_loop_that_deletes_each_page_that_it_lists_empties_a_bucket() {
    for bucket in ["versioned", "suspended"] {
        for most in 1..8 {
            let world = World::new(NOW).await;
            let mut written = 0;
            for key in ["a", "a%20", "b", "c"] {
                if bucket == "suspended" {
                    world.store(&format!("/{bucket}/{key}"), b"null").await;
                    written += 1;
                    let status = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
                    let draft = Draft::document(&format!("/{bucket}?versioning"), status);
                    assert_eq!(world.send(&draft).await.status, 200);
                }
                for number in 0..5_u8 {
                    world.store(&format!("/{bucket}/{key}"), &[number]).await;
                    written += 1;
                    if number % 2 == 0 {
                        world.send(&Draft::new("DELETE", &format!("/{bucket}/{key}"), b"")).await;
                        written += 1;
                    }
                }
                if bucket == "suspended" {
                    let status = b"<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>";
                    let draft = Draft::document(&format!("/{bucket}?versioning"), status);
                    assert_eq!(world.send(&draft).await.status, 200);
                }
            }
            assert_eq!(empty(&world, bucket, most).await, written, "{bucket}, {most} a page");
            let answer = world.send(&Draft::new("DELETE", &format!("/{bucket}"), b"")).await;
            assert_eq!(answer.status, 204, "{bucket}, {most} a page: {}", answer.text());
        }
    }
}
