//! Every parameter of every operation: missing, of the wrong type, out of its range, unknown, repeated.

use serde_json::json;
use triptych_core::error::Coded;
use video_api::api::error::Error;
use video_api::api::operation::{Operation, Run};
use video_api::api::parameter::{GLOBAL, Kind, Param};
use video_api::resource::OPERATIONS;

use crate::service::Service;

/// A value that the parameter takes.
fn valid(operation: &Operation, param: &Param) -> String {
    match param.kind {
        Kind::Text if param.name == "part" => operation.parts[0].name.to_owned(),
        Kind::Text => "x".into(),
        Kind::Boolean => "false".into(),
        Kind::Unsigned(least, _) => least.to_string(),
        Kind::Signed(least, _) => least.to_string(),
        Kind::Moment => "2026-01-01T00:00:00Z".into(),
        Kind::DayOrMoment => "2026-01-01".into(),
        Kind::OneOf(values) => values[0].to_owned(),
        Kind::Language => "de".into(),
        Kind::Region => "DE".into(),
    }
}

/// Values that it does not take, each with the reason.
fn faults(param: &Param) -> Vec<String> {
    match param.kind {
        Kind::Text => Vec::new(),
        Kind::Boolean => vec!["maybe".into()],
        Kind::Unsigned(least, most) => {
            let below = i64::from(least) - 1;
            vec![
                "many".into(),
                "1.5".into(),
                below.to_string(),
                (u64::from(most) + 1).to_string(),
                u64::MAX.to_string(),
            ]
        }
        Kind::Signed(least, most) => {
            vec![
                "many".into(),
                (i64::from(least) - 1).to_string(),
                (i64::from(most) + 1).to_string(),
            ]
        }
        Kind::Moment => {
            vec!["yesterday".into(), "2026-13-01T00:00:00Z".into(), "2026-01-01".into()]
        }
        Kind::DayOrMoment => vec!["yesterday".into(), "2026-13-01".into()],
        Kind::OneOf(_) => vec!["asdf".into(), "A".repeat(300)],
        Kind::Language => vec!["x".into(), "tlh".into()],
        Kind::Region => vec!["usa".into(), "ZZ".into()],
    }
}

/// The query with every required parameter, one of them replaced or left out.
fn query(operation: &Operation, replaced: Option<(&str, Option<&str>)>) -> String {
    let mut pairs = Vec::new();
    for param in operation.params.iter().filter(|param| !param.in_path) {
        match replaced {
            Some((name, value)) if name == param.name => {
                pairs.extend(value.map(|value| format!("{name}={value}")))
            }
            _ if param.required => {
                pairs.push(format!("{}={}", param.name, valid(operation, param)))
            }
            _ => {}
        }
    }
    pairs.join("&")
}

/// The reason that a value is refused with.
fn reason(param: &Param, fault: &str) -> &'static str {
    match (param.kind, fault) {
        (Kind::Language, "x") => "invalidLanguage",
        (Kind::Language, _) => "unsupportedLanguageCode",
        (Kind::Region, "usa") => "invalidRegionCode",
        (Kind::Region, _) => "unsupportedRegionCode",
        _ => param.unlisted.map_or("invalidParameter", |rule| Error::from(rule).row().code),
    }
}

async fn check(
    service: &Service,
    operation: &Operation,
    query: &str,
    reason: &str,
    location: &str,
) {
    let target = format!("/youtube/v3{}?{query}", operation.path.replace("{id}", "x"));
    let answer = service.ask(operation.method.name(), &target, "ALICE", "{}").await;
    let error = &answer.json()["error"];
    let told = (
        answer.status,
        error["errors"][0]["reason"].as_str(),
        error["errors"][0]["location"].as_str(),
    );
    assert_eq!(told, (400, Some(reason), Some(location)), "{} {target}: {error}", operation.name);
    assert_eq!(error["code"], 400);
    assert_eq!(error["message"], error["errors"][0]["message"]);
}

#[tokio::test]
async fn every_fault_of_every_parameter_is_told_with_its_place() {
    let service = Service::new().await;
    let mut checked = 0;
    for operation in OPERATIONS.iter().filter(|operation| !matches!(operation.run, Run::Withdrawn))
    {
        for param in operation.params.iter().filter(|param| !param.in_path) {
            let name = param.name;
            if param.required {
                check(&service, operation, &query(operation, Some((name, None))), "required", name)
                    .await;
                check(
                    &service,
                    operation,
                    &query(operation, Some((name, Some("")))),
                    "required",
                    name,
                )
                .await;
            }
            for fault in faults(param) {
                check(
                    &service,
                    operation,
                    &query(operation, Some((name, Some(&fault)))),
                    reason(param, &fault),
                    name,
                )
                .await;
                checked += 1;
            }
            if !param.repeated {
                let value = valid(operation, param);
                let twice =
                    format!("{}&{name}={value}", query(operation, Some((name, Some(&value)))));
                check(&service, operation, &twice, "invalidParameter", name).await;
            }
            if name == "part" {
                check(
                    &service,
                    operation,
                    &query(operation, Some((name, Some("nature")))),
                    "unknownPart",
                    "part",
                )
                .await;
            }
        }
    }
    assert!(checked > 100, "{checked}");
}

#[tokio::test]
async fn every_fault_of_a_common_parameter_is_told_whatever_the_operation() {
    let service = Service::new().await;
    for operation in OPERATIONS.iter().filter(|operation| !matches!(operation.run, Run::Withdrawn))
    {
        for param in GLOBAL.iter().filter(|param| param.name != "alt") {
            for fault in faults(param) {
                let more = format!("{}&{}={fault}", query(operation, None), param.name);
                check(&service, operation, &more, "invalidParameter", param.name).await;
            }
        }
        for (alt, reason) in [("proto", "unsupportedOutputFormat"), ("xml", "invalidAltValue")] {
            let more = format!("{}&alt={alt}", query(operation, None));
            check(&service, operation, &more, reason, "alt").await;
        }
        // A file is no JSON, and a resource no file.
        let (alt, reason) = if operation.download {
            ("json", "unsupportedOutputFormat")
        } else {
            ("media", "invalidAltValue")
        };
        let more = format!("{}&alt={alt}", query(operation, None));
        check(&service, operation, &more, reason, "alt").await;
    }
}

#[tokio::test]
async fn a_name_of_a_list_is_taken_in_any_letter_case_whatever_the_operation() {
    let service = Service::new().await;
    let mut checked = 0;
    for operation in OPERATIONS.iter().filter(|operation| !matches!(operation.run, Run::Withdrawn))
    {
        for param in operation.params {
            let Kind::OneOf(values) = param.kind else { continue };
            for value in values {
                let mut told = Vec::new();
                for value in [(*value).to_owned(), value.to_uppercase(), value.to_lowercase()] {
                    let query = query(operation, Some((param.name, Some(&value))));
                    let target = format!("/youtube/v3{}?{query}", operation.path);
                    let method = operation.method.name();
                    let answer = service.ask(method, &target, "ALICE", "{}").await;
                    told.push((answer.status, answer.json()));
                }
                assert!(told.iter().all(|one| *one == told[0]), "{}: {told:?}", param.name);
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "{checked}");
}

#[tokio::test]
async fn filters_are_exactly_one() {
    let service = Service::new().await;
    for (target, reason) in [
        ("/videos?part=id", "missingRequiredParameter"),
        ("/videos?part=id&id=v&chart=mostPopular", "incompatibleParameters"),
        ("/channels?part=id&mine=false", "missingRequiredParameter"),
        ("/channels?part=id&mine=true&id=UCx", "invalidCriteria"),
        ("/playlists?part=id", "missingRequiredParameter"),
        ("/playlistItems?part=id", "missingRequiredParameter"),
        ("/videos?part=id&chart=mostPopular&pageToken=CAUQAA", "invalidPageToken"),
        ("/videos?part=id&id=v&hl=tlh", "unsupportedLanguageCode"),
        ("/videos?part=id&chart=mostPopular&regionCode=XX", "unsupportedRegionCode"),
        ("/videos?part=id&id=v&fields=items(", "invalidParameter"),
        ("/videos?part=id&id=v&fields=items(id,none)", "invalidParameter"),
        ("/search?part=id&fields=items/id/none", "invalidParameter"),
        ("/videos?part=id&id=v&alt=xml", "invalidAltValue"),
    ] {
        let answer = service.ask("GET", &format!("/youtube/v3{target}"), "ALICE", "").await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, reason), "{target}");
    }
    let ids: Vec<_> = (0..51).map(|number| format!("v{number}")).collect();
    let answer = service
        .ask("GET", &format!("/youtube/v3/videos?part=id&id={}", ids.join(",")), "ALICE", "")
        .await;
    assert_eq!(answer.reason(), "invalidFilters");
}

#[tokio::test]
async fn a_parameter_that_was_withdrawn_is_refused_where_its_answer_would_be_another() {
    let service = Service::new().await;
    let mut checked = 0;
    for operation in OPERATIONS {
        for name in operation.withdrawn_params {
            let empty = format!("/youtube/v3{}?{}&{name}=", operation.path, query(operation, None));
            assert_eq!(service.ask("GET", &empty, "ALICE", "").await.status, 200, "{empty}");
            let given = format!("{}&{name}=v", query(operation, None));
            check(&service, operation, &given, "badRequest", name).await;
            checked += 1;
        }
    }
    assert!(checked > 0);
}

#[tokio::test]
async fn a_request_that_is_refused_counts_whatever_it_is_refused_for() {
    let seed = json!({"projects": [{"id": "p", "apiKeys": ["KEY"], "quota": "classic"}]});
    let service = Service::seeded(&seed.to_string()).await;
    let used = async || {
        service.control("GET", "/_ops/quota", "").await.json()["projects"][0]["used"].clone()
    };
    for (at, query) in ["", "part=none", "part=id&alt=xml", "part=id&fields=none", "part=id&hl=x"]
        .into_iter()
        .enumerate()
    {
        let target = format!("/youtube/v3/i18nRegions?{query}&key=KEY");
        assert_eq!(service.ask("GET", &target, "", "").await.status, 400, "{query}");
        assert_eq!(used().await, at + 1, "{query}");
    }
    let target = "/youtube/v3/i18nRegions?part=id&alt=xml&key=none";
    assert_eq!(service.ask("GET", target, "", "").await.reason(), "invalidAltValue");
    assert_eq!(used().await, 5);
}

#[test]
fn the_page_of_operations_is_the_table() {
    let page =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations/video-api.md");
    let told = std::fs::read_to_string(&page).unwrap_or_default();
    let made = video_api::api::discovery::page(OPERATIONS);
    assert!(
        told == made,
        "docs/operations/video-api.md is not the table any more; this is its text:\n{made}"
    );
}
