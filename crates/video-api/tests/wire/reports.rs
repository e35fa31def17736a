//! Reports of abuse as whoever runs the service is told of them.

use serde_json::{Value, json};
use triptych_core::kv::Tx;
use video_api::resource::videos::report::latest;

use crate::closing::{close, finish, service, tables_with};
use crate::service::Service;

/// Reports a video, a second before whatever follows.
async fn report(service: &Service, who: &str, video: &str) {
    let body = json!({"videoId": video, "reasonId": "S"}).to_string();
    let told = service.ask("POST", "/youtube/v3/videos/reportAbuse", who, &body).await;
    assert_eq!(told.status, 204, "{}", told.json());
    service.later(1);
}

#[tokio::test]
async fn a_report_goes_with_its_video_and_stays_without_the_name_of_an_account_that_is_closed() {
    let (service, store) = service().await;
    let report = async |who: &str, video: &str| report(&service, who, video).await;
    for at in 0..120 {
        report("ALICE", if at % 2 == 0 { "bob-1" } else { "v" }).await;
    }
    report("BOB", "v").await;
    let kept = async |query: &str| {
        let told = service.control("GET", &format!("/_ops/abuseReports{query}"), "").await.json();
        let items = told["items"].as_array().unwrap().clone();
        let named = |item: &Value| (item["videoId"].to_string(), item.get("account").cloned());
        items.iter().map(named).collect::<Vec<_>>()
    };
    let of = |video: &str, account: Value| (json!(video).to_string(), Some(account));
    assert_eq!(kept("").await[..2], [of("v", json!("bob")), of("v", json!("alice"))]);
    assert_eq!(kept("?videoId=bob-1").await.len(), 60);
    close(&store);
    let check = async || {
        let all = kept("").await;
        assert_eq!((all.len(), &all[0]), (61, &(json!("v").to_string(), None)));
        assert!(all[1..].iter().all(|one| *one == of("v", json!("alice"))), "{all:?}");
        assert_eq!((kept("?videoId=v").await, kept("?videoId=bob-1").await), (all, Vec::new()));
    };
    check().await;
    finish(&store);
    check().await;
    let left = tables_with(&store, "bob-1");
    assert!(!left.contains(&0xA1) && !left.contains(&0xA2), "{left:?}");
}

#[tokio::test]
async fn reports_of_a_video_that_is_gone_take_no_place_among_the_latest() {
    let (service, store) = service().await;
    for (video, times) in [("v", 3), ("bob-1", 20), ("v", 2), ("bob-1", 7)] {
        for _ in 0..times {
            report(&service, "ALICE", video).await;
        }
    }
    let shown = |video: Option<&str>, most: usize| {
        let found = latest(&mut Tx::new(&*store), video, most).unwrap();
        found.into_iter().map(|report| report.video_id).collect::<Vec<_>>()
    };
    assert_eq!(shown(None, 3), ["bob-1"; 3]);
    close(&store);
    for most in 2..=6 {
        assert_eq!(shown(None, most), vec!["v"; most.min(5)], "{most}");
        assert_eq!(shown(Some("v"), most), vec!["v"; most.min(5)], "{most}");
        assert_eq!(shown(Some("bob-1"), most), [""; 0], "{most}");
    }
    assert_eq!(shown(None, 1).len(), 1);
}
