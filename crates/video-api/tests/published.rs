//! The table of operations against what the interface publishes: revision 20261104 of its discovery document, its pages on
//! quota, and the filters that real error bodies name.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use video_api::api::operation::{Filters, Operation};
use video_api::resource::OPERATIONS;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn published() -> Value {
    parsed(include_str!("published/operations.json"))["operations"].clone()
}

/// Our own discovery document.
fn ours() -> Value {
    let text = String::from_utf8(video_api::api::discovery::text(OPERATIONS)).unwrap();
    parsed(&text.replace('\u{1}', "http://h"))
}

fn method<'d>(document: &'d Value, name: &str) -> &'d Value {
    let (resource, verb) = name.split_once('.').unwrap();
    &document["resources"][resource]["methods"][verb]
}

/// Members of an object, without these.
fn without(value: &Value, names: &[&str]) -> BTreeMap<String, Value> {
    let map = value.as_object().into_iter().flatten();
    map.filter(|(name, value)| !names.contains(&name.as_str()) && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[test]
fn every_parameter_of_every_operation_is_as_published() {
    let (published, ours) = (published(), ours());
    let mut compared = 0;
    for operation in OPERATIONS {
        // Two operations are older than the revision and have no row there.
        let row = &published[operation.name];
        if row.is_null() {
            assert!(["activities.insert", "guideCategories.list"].contains(&operation.name));
            continue;
        }
        let method = method(&ours, operation.name);
        let told: BTreeSet<_> = method["parameters"].as_object().unwrap().keys().collect();
        let listed: BTreeSet<_> = row["parameters"].as_object().unwrap().keys().collect();
        assert_eq!(told, listed, "{}", operation.name);
        for (name, parameter) in row["parameters"].as_object().unwrap() {
            let words = ["description", "enumDescriptions"];
            assert_eq!(
                without(&method["parameters"][name], &words),
                without(parameter, &words),
                "{} {name}",
                operation.name
            );
            compared += 1;
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn method_path_body_answer_scopes_and_media_are_as_published() {
    let (published, ours) = (published(), ours());
    for (name, row) in published.as_object().unwrap() {
        if row.is_null() {
            continue;
        }
        let method = method(&ours, name);
        assert_eq!(method["httpMethod"], row["httpMethod"], "{name}");
        assert_eq!(json!(format!("/{}", method["path"].as_str().unwrap())), row["path"], "{name}");
        let order = |value: &Value| value.as_array().cloned().unwrap_or_default();
        assert_eq!(order(&method["parameterOrder"]), order(&row["parameterOrder"]), "{name}");
        for body in ["request", "response"] {
            assert_eq!(method[body]["$ref"], row[body], "{name} {body}");
        }
        let scopes: BTreeSet<_> = method["scopes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|scope| scope.as_str().unwrap().rsplit('/').next().unwrap().to_owned())
            .collect();
        let listed: BTreeSet<_> = row["scopes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|scope| scope.as_str().unwrap().to_owned())
            .collect();
        assert_eq!(scopes, listed, "{name}");
        let media = ["accept", "maxSize"].map(|field| &method["mediaUpload"][field]);
        let expected = ["accept", "maxSize"].map(|field| &row["mediaUpload"][field]);
        assert_eq!(media, expected, "{name}");
        let download = method["supportsMediaDownload"].as_bool().unwrap_or_default();
        assert_eq!(json!(download), row["supportsMediaDownload"], "{name}");
    }
}

#[test]
fn every_resource_has_the_parts_of_its_schema() {
    let listed = parsed(include_str!("published/parts.json"));
    // What the interface once had and the specification still wants.
    let older = BTreeMap::from([("channel", "invideoPromotion")]);
    for operation in OPERATIONS.iter().filter(|row| !row.parts.is_empty()) {
        let resource = resource_of(operation);
        let Some(names) = listed["parts"][&resource].as_array() else {
            assert!(["activities.insert", "guideCategories.list"].contains(&operation.name));
            continue;
        };
        let mut expected: BTreeSet<_> = names.iter().map(|name| name.as_str().unwrap()).collect();
        expected.extend(older.get(resource.as_str()));
        let told: BTreeSet<_> = operation.parts.iter().map(|part| part.name).collect();
        assert_eq!(told, expected, "{}", operation.name);
    }
}

/// `videos` is a list of `video`, `activities` of `activity`, `search` of `searchResult`.
fn resource_of(operation: &Operation) -> String {
    let (resource, _) = operation.name.split_once('.').unwrap();
    match resource {
        "search" => "searchResult".to_owned(),
        _ => match resource.strip_suffix("ies") {
            Some(stem) => format!("{stem}y"),
            None => resource.trim_end_matches('s').to_owned(),
        },
    }
}

#[test]
fn every_operation_has_its_published_filters() {
    let listed = parsed(include_str!("published/filters.json"));
    let mut compared = 0;
    for operation in OPERATIONS {
        let (suffix, names) = match operation.filters {
            Filters::None => continue,
            Filters::One(names) => ("", names),
            Filters::AtMostOne(names) => ("(0 or 1)", names),
        };
        let row = &listed[format!("{}{suffix}", operation.name)];
        assert_eq!(&json!(names), row, "{}", operation.name);
        compared += 1;
    }
    let rows = listed.as_object().unwrap();
    let rows = rows.values().filter(|row| row.is_array()).count();
    assert_eq!(compared, rows);
}

#[test]
fn every_operation_costs_what_the_page_on_quota_says() {
    let listed = parsed(include_str!("published/quota.json"));
    for operation in OPERATIONS {
        let cost = &listed["costs"][operation.name];
        let (units, own_bucket) = match cost {
            Value::Number(units) => (units.as_u64(), false),
            Value::Object(both) => (both["classic"].as_u64(), true),
            // Downloads and withdrawn operations are not on the page.
            _ => continue,
        };
        let told = (Some(u64::from(operation.cost.units)), operation.cost.own_bucket);
        assert_eq!(told, (units, own_bucket), "{}", operation.name);
    }
}
