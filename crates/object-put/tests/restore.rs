//! Archived objects, which nobody reads before they are restored, nor after the days that were asked for.

mod service;

use std::time::Duration;

use service::{Answer, Draft, NOW, World};
use triptych_core::time::Timestamp;

const HOUR: u64 = 3_600;

fn seen(answer: &Answer) -> (u16, String) {
    (answer.status, answer.element("Code").unwrap_or_default())
}

/// A service whose clock goes where a test wants it.
struct Archive {
    world: World,
    now: Timestamp,
}

impl Archive {
    async fn new() -> Self {
        Self { world: World::new(NOW).await, now: NOW }
    }

    fn set(&mut self, now: Timestamp) {
        self.now = now;
        self.world.clock.set(now);
    }

    async fn send(&self, draft: Draft) -> Answer {
        self.world.send(&Draft { time: self.now, ..draft }).await
    }

    async fn put(&self, class: &str) {
        let put = Draft::put("/bkt/cold", b"cold").with("x-store-storage-class", class);
        assert_eq!(self.send(put).await.status, 200);
    }

    async fn restore(&self, days: &str, tier: &str) -> Answer {
        let body = format!(
            "<RestoreRequest><Days>{days}</Days><GlacierJobParameters><Tier>{tier}</Tier></GlacierJobParameters></RestoreRequest>"
        );
        self.send(Draft::new("POST", "/bkt/cold?restore", body.as_bytes())).await
    }

    /// The header that shows a restoration, and whether GET, HEAD, a range and a copy agree on whether the object can be read.
    async fn state(&self) -> (bool, Option<String>) {
        let head = self.send(Draft::new("HEAD", "/bkt/cold", b"")).await;
        assert_eq!(head.status, 200, "the head can always be read");
        let shown = head.header("x-amz-restore").map(str::to_owned);
        let get = self.send(Draft::new("GET", "/bkt/cold", b"")).await;
        let part = self.send(Draft::new("GET", "/bkt/cold", b"").with("range", "bytes=1-2")).await;
        let copy = Draft::put("/bkt/copy", b"").with("x-store-copy-source", "bkt/cold");
        let copy = self.send(copy).await;
        if get.status == 200 {
            assert_eq!((get.body.as_slice(), part.status, copy.status), (&b"cold"[..], 206, 200));
            assert_eq!(get.header("x-amz-restore").map(str::to_owned), shown);
            return (true, shown);
        }
        for answer in [get, part, copy] {
            assert_eq!(seen(&answer), (403, "InvalidObjectState".to_owned()));
        }
        (false, shown)
    }
}

#[tokio::test]
async fn a_listing_shows_how_far_restorations_are_to_who_asks() {
    let mut archive = Archive::new().await;
    archive.put("GLACIER").await;
    assert_eq!(archive.restore("1", "Expedited").await.status, 202);
    let done = "<RestoreStatus><IsRestoreInProgress>false</IsRestoreInProgress><RestoreExpiryDate>2026-11-23T00:00:00.000Z</RestoreExpiryDate></RestoreStatus>";
    let ongoing = "<RestoreStatus><IsRestoreInProgress>true</IsRestoreInProgress></RestoreStatus>";
    for (seconds, shown) in
        [(0, Some(ongoing)), (299, Some(ongoing)), (300, Some(done)), (200_000, None)]
    {
        archive.set(NOW.plus(Duration::from_secs(seconds)));
        for query in ["list-type=2", "prefix=c", "versions"] {
            let list = Draft::new("GET", &format!("/bkt?{query}"), b"");
            let plain = archive.send(list.clone()).await;
            assert!(!plain.text().contains("RestoreStatus"), "{}", plain.text());
            let asked = list.with("x-store-optional-object-attributes", "RestoreStatus");
            let answer = archive.send(asked).await;
            assert!(answer.text().contains("<Key>cold</Key>"), "{}", answer.text());
            match shown {
                Some(shown) => assert!(answer.text().contains(shown), "{}", answer.text()),
                None => assert!(!answer.text().contains("RestoreStatus"), "{}", answer.text()),
            }
        }
    }
    for wrong in ["", "restorestatus", "RestoreStatus,Size"] {
        let list = Draft::new("GET", "/bkt?list-type=2", b"");
        let answer = archive.send(list.with("x-store-optional-object-attributes", wrong)).await;
        assert_eq!(seen(&answer), (400, "InvalidArgument".to_owned()), "{wrong}");
    }
}

const ONGOING: &str = "ongoing-request=\"true\"";

fn until(day: &str) -> Option<String> {
    Some(format!("ongoing-request=\"false\", expiry-date=\"{day} 00:00:00 GMT\""))
}

#[tokio::test]
async fn a_restoration_takes_the_time_of_its_tier_and_lasts_for_its_days() {
    let mut archive = Archive::new().await;
    for (class, tier, seconds, end) in [
        ("GLACIER", "Expedited", 300, "Tue, 24 Nov 2026"),
        ("GLACIER", "Standard", 5 * HOUR, "Tue, 24 Nov 2026"),
        ("GLACIER", "Bulk", 12 * HOUR, "Tue, 24 Nov 2026"),
        ("DEEP_ARCHIVE", "Standard", 12 * HOUR, "Tue, 24 Nov 2026"),
        ("DEEP_ARCHIVE", "Bulk", 48 * HOUR, "Thu, 26 Nov 2026"),
    ] {
        archive.set(NOW);
        archive.put(class).await;
        assert_eq!(archive.state().await, (false, None), "{class} {tier}");
        let answer = archive.restore("2", tier).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        for at in [0, 1, seconds / 2, seconds - 1] {
            archive.set(NOW.plus(Duration::from_secs(at)));
            assert_eq!(archive.state().await, (false, Some(ONGOING.to_owned())), "{tier} {at}");
            let again = archive.restore("3", "Standard").await;
            assert_eq!(seen(&again), (409, "RestoreAlreadyInProgress".to_owned()), "{tier} {at}");
        }
        archive.set(NOW.plus(Duration::from_secs(seconds)));
        assert_eq!(archive.state().await, (true, until(end)), "{class} {tier}");
    }
}

#[tokio::test]
async fn one_that_is_restored_is_told_another_end_and_is_gone_after_it() {
    let mut archive = Archive::new().await;
    archive.put("GLACIER").await;
    assert_eq!(archive.restore("1", "Expedited").await.status, 202);
    let done = NOW.plus(Duration::from_secs(300));
    archive.set(done);
    assert_eq!(archive.state().await, (true, until("Mon, 23 Nov 2026")));
    // Longer, and shorter again: it stays readable meanwhile.
    for (days, end) in [("5", "Fri, 27 Nov 2026"), ("1", "Mon, 23 Nov 2026")] {
        let answer = archive.restore(days, "Bulk").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(archive.state().await, (true, until(end)));
    }
    let end = Timestamp::from_http_date("Mon, 23 Nov 2026 00:00:00 GMT").unwrap();
    archive.set(Timestamp::from_seconds(end.seconds() - 1));
    assert_eq!(archive.state().await, (true, until("Mon, 23 Nov 2026")));
    archive.set(end);
    assert_eq!(archive.state().await, (false, None));
    // It is fetched anew.
    assert_eq!(archive.restore("1", "Expedited").await.status, 202);
    assert_eq!(archive.state().await, (false, Some(ONGOING.to_owned())));
    // A put replaces the archive and what was to be fetched of it.
    archive.put("GLACIER").await;
    assert_eq!(archive.state().await, (false, None));
    archive.put("STANDARD").await;
    assert_eq!(archive.state().await, (true, None));
}

#[tokio::test]
async fn what_cannot_be_restored_is_refused_and_stays_as_it_was() {
    let archive = Archive::new().await;
    archive.put("DEEP_ARCHIVE").await;
    for (days, tier, status, code) in [
        ("1", "Expedited", 400, "InvalidArgument"),
        ("0", "Bulk", 400, "InvalidArgument"),
        ("-1", "Bulk", 400, "InvalidArgument"),
        ("36501", "Bulk", 400, "InvalidArgument"),
        ("18446744073709551616", "Bulk", 400, "MalformedXML"),
        ("1.5", "Bulk", 400, "MalformedXML"),
        ("", "Bulk", 400, "MalformedXML"),
        ("1", "Fast", 400, "MalformedXML"),
        ("1", "", 400, "MalformedXML"),
    ] {
        let answer = archive.restore(days, tier).await;
        assert_eq!(seen(&answer), (status, code.to_owned()), "{days} {tier}");
        assert_eq!(archive.state().await, (false, None), "{days} {tier}");
    }
    archive.put("STANDARD_IA").await;
    let answer = archive.restore("1", "Standard").await;
    assert_eq!(seen(&answer), (403, "InvalidObjectState".to_owned()));
    let none =
        Draft::new("POST", "/bkt/none?restore", b"<RestoreRequest><Days>1</Days></RestoreRequest>");
    assert_eq!(seen(&archive.send(none).await), (404, "NoSuchKey".to_owned()));
}
