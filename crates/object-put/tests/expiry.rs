//! Lifecycle rules delete what they have ended, on the day, and nothing else.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::sync::Arc;
use std::time::Duration;

use object_put::maintenance::lifecycle_worker::{ExpiredCounts, LifecycleWorker};
use service::{Draft, NOW, World};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::Memory;
use triptych_core::time::Timestamp;

/// A service, its records, and the passes over them.
struct Scene {
    world: World,
    store: Arc<Memory>,
    expiry: LifecycleWorker,
}

impl Scene {
    async fn new() -> Self {
        let store = Arc::new(Memory::new());
        let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
        let world = World::on(store.clone(), blobs, NOW).await;
        Self { world, store, expiry: LifecycleWorker::default() }
    }

    async fn rules(&self, bucket: &str, rules: &str) {
        let body = format!("<LifecycleConfiguration>{rules}</LifecycleConfiguration>");
        let target = format!("/{bucket}?lifecycle");
        let answer = self.world.send(&Draft::document(&target, body.as_bytes())).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    /// Moves the clock to the midnight that follows so many days, and looks.
    fn after_days(&mut self, days: i64) -> ExpiredCounts {
        let midnight = (NOW.seconds().div_euclid(86_400) + 1 + days) * 86_400;
        self.pass(Timestamp::from_seconds(midnight))
    }

    fn pass(&mut self, now: Timestamp) -> ExpiredCounts {
        let mut ids = SeededIds::from_number(7);
        self.expiry.pass(&*self.store, &mut ids, now).unwrap()
    }

    async fn status(&self, target: &str) -> u16 {
        self.world.fetch(target).await.status
    }

    /// The number of versions and of delete markers that a bucket shows.
    async fn versions(&self, bucket: &str) -> (usize, usize) {
        let listed = self.world.fetch(&format!("/{bucket}?versions")).await.text();
        let count = |element: &str| listed.matches(element).count();
        (count("<Version>"), count("<DeleteMarker>"))
    }
}

fn rule(id: &str, filter: &str, action: &str) -> String {
    format!("<Rule><ID>{id}</ID><Status>Enabled</Status><Filter>{filter}</Filter>{action}</Rule>")
}

const fn gone(objects: u64, versions: u64) -> ExpiredCounts {
    ExpiredCounts { objects, versions, uploads: 0 }
}

#[tokio::test]
async fn each_of_a_thousand_rules_counts() {
    let mut scene = Scene::new().await;
    let long = "x".repeat(100);
    let rule = |number: usize| {
        format!(
            "<Rule><Filter><Prefix>{number:03}/{long}</Prefix></Filter><Status>Enabled</Status><Expiration><Days>1</Days></Expiration></Rule>"
        )
    };
    scene.rules("bkt", &(0..1_000).map(rule).collect::<String>()).await;
    let target = format!("/bkt/999/{long}");
    let put = scene.world.store(&target, b"x").await;
    assert!(put.header("x-amz-expiration").is_some());
    assert_eq!(scene.status(&target).await, 200);
    scene.after_days(1);
    assert_eq!(scene.status(&target).await, 404);
}

#[tokio::test]
async fn objects_go_on_their_midnight_and_those_of_no_rule_stay() {
    let mut scene = Scene::new().await;
    let days = "<Expiration><Days>2</Days></Expiration>";
    let tagged = "<And><Prefix>tmp/</Prefix><Tag><Key>keep</Key><Value>no</Value></Tag></And>";
    let rules = rule("logs", "<Prefix>log/</Prefix>", days) + &rule("tagged", tagged, days);
    scene.rules("bkt", &rules).await;
    for number in 0..250 {
        let target = format!("/bkt/log/{number}");
        scene.world.store(&target, b"line").await;
    }
    scene.world.store("/bkt/other", b"stays").await;
    scene.world.store("/bkt/tmp/plain", b"stays").await;
    let tagging = Draft::put("/bkt/tmp/tagged", b"goes").with("x-store-tagging", "keep=no");
    assert_eq!(scene.world.send(&tagging).await.status, 200);
    assert_eq!(scene.after_days(1), gone(0, 0));
    assert_eq!(scene.status("/bkt/log/0").await, 200);
    assert_eq!(scene.after_days(2), gone(251, 0));
    assert_eq!(scene.status("/bkt/log/0").await, 404);
    assert_eq!(scene.status("/bkt/tmp/tagged").await, 404);
    for kept in ["/bkt/other", "/bkt/tmp/plain"] {
        assert_eq!(scene.status(kept).await, 200, "{kept}");
    }
    assert_eq!(scene.after_days(3), gone(0, 0));
}

#[tokio::test]
async fn a_bucket_is_looked_through_once_a_day_and_again_when_its_rules_change() {
    let mut scene = Scene::new().await;
    scene.world.store("/bkt/a", b"a").await;
    let past = "<Expiration><Date>2020-01-01</Date></Expiration>";
    scene.rules("bkt", &rule("b", "<Prefix>b</Prefix>", past)).await;
    assert_eq!(scene.pass(NOW), gone(0, 0));
    scene.world.store("/bkt/b", b"b").await;
    assert_eq!(scene.pass(NOW), gone(0, 0), "today is done");
    let everything = rule("b", "<Prefix/>", past);
    let disabled = everything.replace("Enabled", "Disabled");
    scene.rules("bkt", &disabled).await;
    assert_eq!(scene.pass(NOW), gone(0, 0), "a rule that is disabled ends nothing");
    scene.rules("bkt", &everything).await;
    assert_eq!(scene.pass(NOW), gone(2, 0));
}

#[tokio::test]
async fn a_bucket_that_keeps_versions_keeps_them_until_their_own_days_have_come() {
    let mut scene = Scene::new().await;
    let actions = "<Expiration><Days>1</Days></Expiration>\
        <NoncurrentVersionExpiration><NoncurrentDays>3</NoncurrentDays></NoncurrentVersionExpiration>";
    scene.rules("versioned", &rule("r", "<Prefix/>", actions)).await;
    for body in [b"1", b"2", b"3"] {
        scene.world.store("/versioned/k", body).await;
    }
    // The current one goes under a marker; the two below it have not been noncurrent for three days.
    assert_eq!(scene.after_days(1), gone(1, 0));
    assert_eq!(scene.status("/versioned/k").await, 404);
    assert_eq!(scene.versions("versioned").await, (3, 1));
    assert_eq!(scene.after_days(3), gone(0, 2));
    // The third one has been noncurrent since the marker came; then the marker is alone, and old enough.
    assert_eq!(scene.after_days(4), gone(0, 1));
    assert_eq!(scene.versions("versioned").await, (0, 1));
    assert_eq!(scene.after_days(5), gone(0, 1));
    assert_eq!(scene.versions("versioned").await, (0, 0));
}

#[tokio::test]
async fn as_many_newer_versions_stay_as_the_rule_says_and_locked_ones_always() {
    let mut scene = Scene::new().await;
    let action = "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>\
        <NewerNoncurrentVersions>2</NewerNoncurrentVersions></NoncurrentVersionExpiration>";
    for bucket in ["versioned", "locked"] {
        scene.rules(bucket, &rule("r", "<Prefix/>", action)).await;
    }
    for number in 0..6 {
        scene.world.store("/versioned/k", &[number]).await;
        let held = Draft::put("/locked/k", &[number])
            .with("x-store-checksum-crc32", crc32(number))
            .with("x-store-object-lock-legal-hold", "ON");
        let answer = scene.world.send(&held).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    // Six versions: the current one, and two of five below it.
    assert_eq!(scene.after_days(1), gone(0, 3));
    assert_eq!(scene.versions("versioned").await, (3, 0));
    assert_eq!(scene.versions("locked").await, (6, 0));
    assert_eq!(scene.world.fetch("/versioned/k").await.body, [5]);
}

fn crc32(byte: u8) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(crc32fast::hash(&[byte]).to_be_bytes())
}

#[tokio::test]
async fn a_marker_with_nothing_below_goes_and_one_that_hides_something_stays() {
    let mut scene = Scene::new().await;
    let action =
        "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>";
    scene.rules("versioned", &rule("r", "<Prefix/>", action)).await;
    for key in ["alone", "hiding"] {
        let target = format!("/versioned/{key}");
        let stored = scene.world.store(&target, b"x").await;
        let deleted = scene.world.send(&Draft::new("DELETE", &target, b"")).await;
        assert_eq!(deleted.status, 204);
        if key == "alone" {
            let version = stored.header("x-amz-version-id").unwrap();
            let version = format!("{target}?versionId={version}");
            scene.world.send(&Draft::new("DELETE", &version, b"")).await;
        }
    }
    scene.world.store("/versioned/current", b"x").await;
    assert_eq!(scene.versions("versioned").await, (2, 2));
    assert_eq!(scene.pass(NOW.plus(Duration::from_secs(1))), gone(0, 1));
    assert_eq!(scene.versions("versioned").await, (2, 1));
    assert_eq!(scene.status("/versioned/current").await, 200);
}
