//! The discovery document: what a client needs to know to call every operation, made from the table.

use serde_json::{Map, Value, json};

use crate::account::Scope;
use crate::api::operation::{Access, Operation, Run, Upload, VERSION_PATH};
use crate::api::parameter::{GLOBAL, Kind, Param};
use crate::api::response::BASE;
use crate::api::schema;

/// The document of these operations as compact JSON, with [`BASE`] where the address of the service goes.
#[must_use]
pub fn text(operations: &[&Operation]) -> Vec<u8> {
    document(operations).to_string().replace("\\u0001", "\u{1}").into_bytes()
}

fn document(operations: &[&Operation]) -> Value {
    let base = char::from(BASE);
    let mut resources = Map::new();
    for operation in operations {
        let (resource, verb) = operation.name.split_once('.').unwrap_or((operation.name, ""));
        let entry = resources.entry(resource).or_insert_with(|| json!({"methods": {}}));
        if let Some(methods) = entry.get_mut("methods").and_then(Value::as_object_mut) {
            methods.insert(verb.to_owned(), method(operation));
        }
    }
    let scopes: Map<_, _> = Scope::ALL
        .into_iter()
        .map(|scope| {
            (format!("{}{}", Scope::PREFIX, scope.name()), json!({"description": scope.doc()}))
        })
        .collect();
    json!({
        "kind": "discovery#restDescription", "discoveryVersion": "v1", "id": "youtube:v3", "name": "youtube",
        "canonicalName": "YouTube", "version": "v3", "revision": "20261104", "title": "Video Platform Data API v3",
        "description": "A stateful video-platform data service with the wire of the Data API v3.",
        "ownerDomain": "localhost", "ownerName": "Triptych", "documentationLink": format!("{base}/"),
        "protocol": "rest", "batchPath": "batch", "basePath": "", "servicePath": "",
        "rootUrl": format!("{base}/"), "baseUrl": format!("{base}/"), "mtlsRootUrl": format!("{base}/"),
        "fullyEncodeReservedExpansion": true,
        "icons": {"x16": format!("{base}/favicon.ico"), "x32": format!("{base}/favicon.ico")},
        "auth": {"oauth2": {"scopes": scopes}},
        "parameters": parameters(GLOBAL.iter()),
        "resources": resources,
        "schemas": schema::all(),
    })
}

fn method(operation: &Operation) -> Value {
    let path = format!("{}{}", VERSION_PATH.trim_start_matches('/'), operation.path);
    let order: Vec<_> =
        operation.params.iter().filter(|param| param.required).map(|param| param.name).collect();
    let scopes: Vec<_> =
        operation.scopes.iter().map(|scope| format!("{}{}", Scope::PREFIX, scope.name())).collect();
    let mut method = json!({
        "id": format!("youtube.{}", operation.name), "description": operation.doc,
        "httpMethod": operation.method.name(), "path": path, "flatPath": path,
        "parameters": parameters(operation.params.iter()), "parameterOrder": order, "scopes": scopes,
    });
    let Some(map) = method.as_object_mut() else {
        return method;
    };
    for (name, schema) in [("request", operation.request), ("response", operation.response)] {
        if let Some(schema) = schema {
            map.insert(name.into(), json!({"$ref": schema}));
        }
    }
    if let Some(upload) = &operation.upload {
        map.insert("supportsMediaUpload".into(), true.into());
        map.insert("mediaUpload".into(), media_upload(operation, upload));
    }
    if operation.download {
        map.insert("supportsMediaDownload".into(), true.into());
        map.insert("useMediaDownloadService".into(), true.into());
    }
    method
}

fn media_upload(operation: &Operation, upload: &Upload) -> Value {
    let path = |start: &str| format!("{start}{VERSION_PATH}{}", operation.path);
    json!({
        "accept": upload.accept, "maxSize": upload.bytes_max.to_string(),
        "protocols": {
            "simple": {"multipart": true, "path": path("/upload")},
            "resumable": {"multipart": true, "path": path("/resumable/upload")},
        },
    })
}

fn parameters<'p>(params: impl Iterator<Item = &'p Param>) -> Value {
    Value::Object(params.map(|param| (param.name.to_owned(), parameter(param))).collect())
}

fn parameter(param: &Param) -> Value {
    let mut json =
        json!({"description": param.doc, "location": if param.in_path { "path" } else { "query" }});
    let Some(map) = json.as_object_mut() else {
        return json;
    };
    let mut set = |name: &str, value: Value| {
        map.insert(name.into(), value);
    };
    match param.kind {
        Kind::Text | Kind::Language | Kind::Region => set("type", "string".into()),
        Kind::Boolean => set("type", "boolean".into()),
        Kind::Moment | Kind::DayOrMoment => {
            set("type", "string".into());
            set("format", "google-datetime".into());
        }
        Kind::OneOf(values) => {
            set("type", "string".into());
            set("enum", json!(values));
            set("enumDescriptions", json!(vec![""; values.len()]));
        }
        Kind::Unsigned(least, most) => {
            set("type", "integer".into());
            set("format", "uint32".into());
            set("minimum", least.to_string().into());
            set("maximum", most.to_string().into());
        }
        Kind::Signed(least, most) => {
            set("type", "integer".into());
            set("format", "int32".into());
            set("minimum", least.to_string().into());
            set("maximum", most.to_string().into());
        }
    }
    for (name, holds) in [
        ("required", param.required),
        ("repeated", param.repeated),
        ("deprecated", param.deprecated),
    ] {
        if holds {
            set(name, true.into());
        }
    }
    if let Some(default) = param.default {
        set("default", default.into());
    }
    json
}

/// The table of operations as a page: docs/operations/video-api.md is this text.
#[must_use]
pub fn page(operations: &[&Operation]) -> String {
    let mut out = String::from(
        "# Operations of video-api\n\nMade from the rows in `crates/video-api/src/resource/`; a test compares the two. Round trips are those to a store on another machine that a request costs at most: reads + commits.\n\n\
         | Operation | HTTP | Path | Credentials | Units | Round trips | State | What it does |\n|---|---|---|---|---|---|---|---|\n",
    );
    for operation in operations {
        let access = match operation.access {
            Access::KeyOrToken => "key or token",
            Access::Token => "token",
        };
        let state = match operation.run {
            Run::Call(_) => "built",
            Run::NotImplemented => "501",
            Run::Withdrawn => "410, withdrawn",
        };
        let (name, method, path) = (operation.name, operation.method.name(), operation.path);
        let (units, trips, doc) = (operation.cost.units, operation.round_trips, operation.doc);
        out.push_str(&format!(
            "| {name} | {method} | {VERSION_PATH}{path} | {access} | {units} | {trips} | {state} | {doc} |\n"
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::OPERATIONS;

    #[test]
    fn every_operation_and_every_type_it_names_is_in_the_document() {
        let document: Value = serde_json::from_slice(
            &text(OPERATIONS).into_iter().filter(|byte| *byte != BASE).collect::<Vec<_>>(),
        )
        .unwrap();
        for operation in OPERATIONS {
            let (resource, verb) = operation.name.split_once('.').unwrap();
            let method = &document["resources"][resource]["methods"][verb];
            assert_eq!(method["httpMethod"], operation.method.name(), "{}", operation.name);
            for schema in [operation.request, operation.response].into_iter().flatten() {
                assert!(document["schemas"][schema].is_object(), "{schema}");
            }
        }
        let mut missing = Vec::new();
        references(&document, &mut |name| {
            if !document["schemas"][name].is_object() {
                missing.push(name.to_owned());
            }
        });
        assert_eq!(missing, Vec::<String>::new());
    }

    fn references(value: &Value, found: &mut impl FnMut(&str)) {
        match value {
            Value::Object(map) => {
                if let Some(name) = map.get("$ref").and_then(Value::as_str) {
                    found(name);
                }
                map.values().for_each(|value| references(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
}
