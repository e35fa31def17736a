//! Members, their levels, and reports of abuse.

use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use crate::service::{Answer, Service};

/// Three levels of Alice's, their prices in another order than the file's, and members of each kind.
fn seed() -> String {
    let account = |id: &str| {
        json!({"id": id, "tokens": [{"token": id.to_uppercase(), "scopes": ["youtube", "youtube.channel-memberships.creator"]}],
            "channel": {"id": format!("UC{id}"), "title": id}})
    };
    let accounts = ["alice", "bob", "carol", "dave", "erin"].map(account);
    json!({
        "projects": [{"id": "p", "apiKeys": ["KEY"]}],
        "accounts": accounts,
        "membershipsLevels": [
            {"id": "gold", "channel": "alice", "displayName": "Gold", "priceMicros": 9_000_000},
            {"id": "tin", "channel": "alice", "displayName": "Tin", "priceMicros": 1_000_000},
            {"id": "iron", "channel": "alice", "displayName": "Iron", "priceMicros": 4_000_000},
        ],
        "members": [
            {"creator": "alice", "member": "bob", "level": "tin", "since": "2025-11-01T00:00:00Z"},
            {"creator": "alice", "member": "carol", "level": "gold", "since": "2026-04-01T00:00:00Z"},
            {"creator": "alice", "member": "UCgone", "level": "iron", "since": "2026-01-01T00:00:00Z", "hasNoProfile": true},
        ],
        "videos": [{"id": "v", "owner": "alice", "snippet": {"title": "V", "categoryId": "22"}},
            {"id": "p", "owner": "alice", "snippet": {"title": "P", "categoryId": "22"}, "status": {"privacyStatus": "private"}}],
    })
    .to_string()
}

async fn service() -> Service {
    Service::seeded(&seed()).await
}

async fn members(service: &Service, query: &str) -> Answer {
    let target = format!("/youtube/v3/members?part=snippet&maxResults=1000{query}");
    service.ask("GET", &target, "ALICE", "").await
}

fn channels(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap().iter();
    items
        .map(|item| item["snippet"]["memberDetails"]["channelId"].as_str().unwrap().to_owned())
        .collect()
}

async fn control(service: &Service, method: &str, path: &str, body: Value) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path).header("host", "h");
    let request = request.body(Full::new(body.to_string().into())).unwrap();
    let answer = service.api.answer_control(request).await.ok().unwrap();
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

async fn change(service: &Service, member: &str, level: Option<&str>) {
    let body = json!({"creator": "alice", "member": member, "level": level});
    let (status, answer) = control(service, "POST", "/_ops/members", body).await;
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test]
async fn levels_come_in_the_order_of_their_price_each_with_its_name() {
    let service = service().await;
    let list = "/youtube/v3/membershipsLevels?part=id,snippet";
    let levels = service.ask("GET", list, "ALICE", "").await.json();
    let items = levels["items"].as_array().unwrap();
    let named: Vec<_> = items
        .iter()
        .map(|item| (&item["id"], &item["snippet"]["levelDetails"]["displayName"]))
        .collect();
    let expected = [("tin", "Tin"), ("iron", "Iron"), ("gold", "Gold")]
        .map(|(id, name)| (json!(id), json!(name)));
    assert_eq!(named, expected.iter().map(|(id, name)| (id, name)).collect::<Vec<_>>());
    assert_eq!(items[0]["snippet"]["creatorChannelId"], "UCalice");
    for target in [list, "/youtube/v3/members?part=snippet"] {
        let none = service.ask("GET", target, "BOB", "").await;
        assert_eq!((none.status, none.reason().as_str()), (400, "channelMembershipsNotEnabled"));
        assert_eq!(service.ask("GET", &format!("{target}&key=KEY"), "", "").await.status, 401);
    }
}

#[tokio::test]
async fn current_members_come_newest_first_with_what_they_have_access_to() {
    let service = service().await;
    let all = members(&service, "").await.json();
    assert_eq!(channels(&all), ["UCcarol", "UCgone", "UCbob"]);
    assert_eq!(all["pageInfo"]["totalResults"], 3);
    let carol = &all["items"][0]["snippet"];
    assert_eq!(carol["memberDetails"]["displayName"], "carol");
    let url = carol["memberDetails"]["profileImageUrl"].as_str().unwrap();
    assert!(url.starts_with("http://") && url.ends_with("/ytc/UCcarol/default.jpg"), "{url}");
    let details = &carol["membershipsDetails"];
    assert_eq!(details["accessibleLevels"], json!(["tin", "iron", "gold"]));
    assert_eq!(details["highestAccessibleLevelDisplayName"], "Gold");
    // One whose profile is gone is a member nevertheless.
    assert_eq!(all["items"][1]["snippet"]["memberDetails"], json!({"channelId": "UCgone"}));
    for (query, expected) in [
        ("&hasAccessToLevel=tin", vec!["UCcarol", "UCgone", "UCbob"]),
        ("&hasAccessToLevel=iron", vec!["UCcarol", "UCgone"]),
        ("&hasAccessToLevel=gold", vec!["UCcarol"]),
        ("&filterByMemberChannelId=UCbob,UCdave,UCcarol", vec!["UCcarol", "UCbob"]),
        ("&filterByMemberChannelId=UCbob,UCcarol&hasAccessToLevel=iron", vec!["UCcarol"]),
        ("&filterByMemberChannelId=UCdave", vec![]),
    ] {
        let found = members(&service, query).await.json();
        assert_eq!(
            (channels(&found), &found["pageInfo"]["totalResults"]),
            (expected.iter().map(|id| (*id).to_owned()).collect(), &json!(expected.len())),
            "{query}"
        );
    }
    let many: Vec<_> = (0..101).map(|at| format!("UC{at}")).collect();
    for (query, reason) in [
        ("&hasAccessToLevel=brass".to_owned(), "invalidHasAccessToLevel"),
        ("&mode=listMembersModeUnknown".to_owned(), "invalidMode"),
        ("&mode=yesterday".to_owned(), "invalidMode"),
        (format!("&filterByMemberChannelId={}", many.join(",")), "invalidFilterByMemberChannelId"),
        ("&maxResults=1001".to_owned(), "invalidParameter"),
        ("&pageToken=AAAA".to_owned(), "invalidPageToken"),
    ] {
        let query = if query.contains("maxResults") {
            query.replace("&max", "&mode=all_current&max")
        } else {
            query
        };
        let target = format!("/youtube/v3/members?part=snippet{query}");
        let answer = service.ask("GET", &target, "ALICE", "").await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, reason), "{query}");
    }
}

#[tokio::test]
async fn pages_of_members_hold_each_once() {
    let service = service().await;
    for query in ["", "&hasAccessToLevel=tin", "&filterByMemberChannelId=UCbob,UCcarol,UCgone"] {
        let (mut found, mut token) = (Vec::new(), String::new());
        loop {
            let target = format!("/youtube/v3/members?part=snippet&maxResults=1{query}{token}");
            let page = service.ask("GET", &target, "ALICE", "").await.json();
            found.extend(channels(&page));
            match page["nextPageToken"].as_str() {
                Some(next) => token = format!("&pageToken={next}"),
                None => break,
            }
        }
        assert_eq!(found, ["UCcarol", "UCgone", "UCbob"], "{query}");
    }
}

#[tokio::test]
async fn durations_follow_the_clock_in_all_and_by_level() {
    const MONTH: u64 = 2_629_746;
    let service = service().await;
    let duration = async |member: &str| {
        let query = format!("&filterByMemberChannelId={member}");
        let found = members(&service, &query).await.json();
        let details = found["items"][0]["snippet"]["membershipsDetails"].clone();
        let levels = details["membershipsDurationAtLevels"].as_array().unwrap().iter();
        let levels: Vec<_> = levels
            .map(|level| {
                (
                    level["level"].as_str().unwrap().to_owned(),
                    level["memberTotalDurationMonths"].as_u64().unwrap(),
                )
            })
            .collect();
        (details["membershipsDuration"]["memberTotalDurationMonths"].as_u64().unwrap(), levels)
    };
    let at = |levels: &[(&str, u64)]| {
        levels.iter().map(|(id, months)| ((*id).to_owned(), *months)).collect::<Vec<_>>()
    };
    change(&service, "dave", Some("tin")).await;
    assert_eq!(duration("UCdave").await, (0, at(&[("tin", 0)])));
    service.later(2 * MONTH);
    change(&service, "dave", Some("gold")).await;
    service.later(3 * MONTH);
    assert_eq!(duration("UCdave").await, (5, at(&[("tin", 5), ("iron", 3), ("gold", 3)])));
    change(&service, "dave", Some("iron")).await;
    service.later(MONTH);
    assert_eq!(duration("UCdave").await, (6, at(&[("tin", 6), ("iron", 4)])));
    change(&service, "dave", None).await;
    service.later(10 * MONTH);
    assert_eq!(
        channels(&members(&service, "&filterByMemberChannelId=UCdave").await.json()),
        Vec::<String>::new()
    );
    change(&service, "dave", Some("gold")).await;
    service.later(MONTH);
    // What was before an interruption counts, and so does each level's own time.
    assert_eq!(duration("UCdave").await, (7, at(&[("tin", 7), ("iron", 5), ("gold", 4)])));
    assert_eq!(channels(&members(&service, "").await.json())[0], "UCdave");
}

#[tokio::test]
async fn updates_tell_who_joined_or_upgraded_since_the_call_before() {
    let service = service().await;
    let ask = async |token: &str, more: &str| {
        let page = if token.is_empty() { String::new() } else { format!("&pageToken={token}") };
        let answer = members(&service, &format!("&mode=updates{page}{more}")).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
        let list = answer.json();
        (channels(&list), list["nextPageToken"].as_str().unwrap().to_owned())
    };
    let (none, first) = ask("", "").await;
    assert!(none.is_empty());
    let (none, same) = ask(&first, "").await;
    assert!(none.is_empty() && same == first);
    change(&service, "dave", Some("tin")).await;
    change(&service, "bob", Some("gold")).await;
    change(&service, "carol", Some("tin")).await;
    let (found, second) = ask(&first, "").await;
    assert_eq!(found, ["UCdave", "UCbob"], "a downgrade is no update");
    assert!(ask(&second, "").await.0.is_empty());
    change(&service, "dave", Some("gold")).await;
    assert_eq!(ask(&first, "").await.0, ["UCbob", "UCdave"], "each is told of once");
    assert_eq!(ask(&second, "").await.0, ["UCdave"]);
    change(&service, "dave", None).await;
    assert!(ask(&second, "").await.0.is_empty(), "who left is told of no more");
    change(&service, "dave", Some("tin")).await;
    assert_eq!(ask(&second, "").await.0, ["UCdave"]);
    // A token belongs to its mode and to its filter.
    for query in [
        format!("&pageToken={first}"),
        format!("&mode=updates&hasAccessToLevel=gold&pageToken={first}"),
    ] {
        let answer = members(&service, &query).await;
        assert_eq!(answer.reason(), "invalidPageToken", "{query}");
    }
    let (none, gold) = ask("", "&hasAccessToLevel=gold").await;
    assert!(none.is_empty());
    change(&service, "erin", Some("tin")).await;
    change(&service, "dave", Some("gold")).await;
    assert_eq!(ask(&gold, "&hasAccessToLevel=gold").await.0, ["UCdave"]);
}

#[tokio::test]
async fn a_membership_that_cannot_be_is_refused() {
    let service = service().await;
    for (body, status) in [
        (json!({"creator": "alice", "member": "alice", "level": "tin"}), 400),
        (json!({"creator": "alice", "member": "nobody", "level": "tin"}), 404),
        (json!({"creator": "nobody", "member": "bob", "level": "tin"}), 404),
        (json!({"creator": "alice", "member": "bob", "level": "brass"}), 400),
        (json!({"creator": "bob", "member": "carol", "level": "tin"}), 400),
        (json!({"creator": "alice", "member": "bob", "level": 7}), 400),
        (json!({"creator": "alice"}), 400),
        (json!(["alice", "bob", "tin"]), 400),
    ] {
        let (answered, answer) = control(&service, "POST", "/_ops/members", body).await;
        assert_eq!(answered, status, "{answer}");
    }
    let brass = json!({"creator": "alice", "member": "bob", "level": "brass"});
    let (_, answer) = control(&service, "POST", "/_ops/members", brass).await;
    assert_eq!(answer["error"]["errors"][0]["location"], "body.level", "{answer}");
}

#[tokio::test]
async fn a_report_names_a_reason_of_the_list_and_is_kept() {
    let service = service().await;
    let reasons = "/youtube/v3/videoAbuseReportReasons?part=id,snippet&key=KEY";
    let reasons = service.ask("GET", reasons, "", "").await.json();
    let reason = &reasons["items"][0];
    let (id, secondary) = (&reason["id"], &reason["snippet"]["secondaryReasons"][0]["id"]);
    assert!(reason["snippet"]["label"].is_string() && secondary.is_string(), "{reason}");
    let report = "/youtube/v3/videos/reportAbuse";
    let full = json!({"videoId": "v", "reasonId": id, "secondaryReasonId": secondary, "comments": "look <b>", "language": "de"});
    for (changes, status, code, place) in [
        (json!({"videoId": null}), 400, "required", "videoId"),
        (json!({"reasonId": ""}), 400, "required", "reasonId"),
        (json!({"videoId": "never"}), 404, "videoNotFound", "videoId"),
        (json!({"videoId": "p"}), 404, "videoNotFound", "videoId"),
        (json!({"reasonId": "nothing"}), 400, "invalidAbuseReason", "reasonId"),
        (json!({"secondaryReasonId": "nothing"}), 400, "invalidAbuseReason", "secondaryReasonId"),
        (json!({"comments": "x".repeat(10_001)}), 400, "invalid", "comments"),
        (json!({"language": "zz"}), 400, "unsupportedLanguageCode", "language"),
        (json!({"comments": {}}), 400, "invalid", "comments"),
        (json!({"videoId": ["v"]}), 400, "invalid", "videoId"),
    ] {
        let mut body = full.clone();
        body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let answer = service.ask("POST", report, "BOB", &body.to_string()).await;
        let location = answer.json()["error"]["errors"][0]["location"].clone();
        assert_eq!(
            (answer.status, answer.reason().as_str(), location),
            (status, code, json!(format!("body.{place}")))
        );
    }
    assert_eq!(
        service.ask("POST", &format!("{report}?key=KEY"), "", &full.to_string()).await.status,
        401
    );
    assert_eq!(service.ask("POST", report, "BOB", &full.to_string()).await.status, 204);
    let bare = json!({"videoId": "v", "reasonId": "C"}).to_string();
    assert_eq!(service.ask("POST", report, "CAROL", &bare).await.status, 204);
    for path in ["/_ops/abuseReports", "/_ops/abuseReports?videoId=v"] {
        let (status, kept) = control(&service, "GET", path, Value::Null).await;
        let items = kept["items"].as_array().unwrap();
        assert_eq!((status, items.len()), (200, 2));
        let first = items.iter().find(|item| item["account"] == "bob").unwrap();
        for (name, value) in full.as_object().unwrap() {
            assert_eq!(&first[name], value, "{name}");
        }
        assert_eq!(first["reportedAt"], "2026-05-01T12:00:00Z");
    }
    let (_, none) = control(&service, "GET", "/_ops/abuseReports?videoId=p", Value::Null).await;
    assert_eq!(none["items"], json!([]));
}

#[tokio::test]
async fn a_seed_file_may_bring_its_own_reasons() {
    let own = json!([{"id": "1", "label": "Boring", "secondaryReasons": [{"id": "2", "label": "Very"}]}, {"id": "9", "label": "Loud"}]);
    let seed =
        json!({"projects": [{"id": "p", "apiKeys": ["KEY"]}], "videoAbuseReportReasons": own});
    let service = Service::seeded(&seed.to_string()).await;
    let list = "/youtube/v3/videoAbuseReportReasons?part=id,snippet&hl=de&key=KEY";
    let reasons = service.ask("GET", list, "", "").await.json();
    let items = reasons["items"].as_array().unwrap();
    assert_eq!(
        (items.len(), &items[0]["id"], &items[0]["snippet"]["label"]),
        (2, &json!("1"), &json!("Boring"))
    );
    assert_eq!(items[0]["snippet"]["secondaryReasons"], json!([{"id": "2", "label": "Very"}]));
    assert_eq!(items[1]["snippet"], json!({"label": "Loud"}));
    let bad = service.ask("GET", &list.replace("hl=de", "hl=zz"), "", "").await;
    assert_eq!(bad.reason(), "unsupportedLanguageCode");
}
