//! The fuzz targets of tabs-api: nothing may panic, and these invariants hold.

#![expect(unreachable_pub, reason = "fuzz targets include this file as a module of their own")]

use tabs_api::error::Error;
use tabs_api::extension::manifest::Manifest;
use tabs_api::extension::match_pattern::{MatchPattern, glob};
use tabs_api::extension::permission::Extension;
use tabs_api::js_value::JsValue;
use tabs_api::operation::{Command, Style};
use tabs_api::url::{host, origin, resolve, title as shown};

const EXTENSION: &str = "abcdefghijklmnopabcdefghijklmnop";

/// The first line, and all the others.
fn lines(data: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(data);
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    (first.to_owned(), rest.to_owned())
}

/// A match pattern, and a URL on the next line.
pub fn pattern(data: &[u8]) {
    let (pattern, url) = lines(data);
    let Some(read) = MatchPattern::parse(&pattern) else {
        return;
    };
    let without_fragment = url.split('#').next().unwrap_or_default();
    assert_eq!(read.matches(&url), read.matches(without_fragment), "a fragment never counts");
}

/// A title pattern, and a title on the next line.
pub fn title(data: &[u8]) {
    let (pattern, title) = lines(data);
    let _ = glob(&pattern, &title, true);
    let escaped: String = title.chars().flat_map(|character| ['\\', character]).collect();
    assert!(glob(&escaped, &title, true), "a title matches itself");
    assert!(glob("*", &title, true), "a star matches every title");
}

/// Reads input as the URL that an extension hands over.
pub fn url(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(url) = resolve(&text, EXTENSION) else {
        return;
    };
    let _ = (host(&url), origin(&url), shown(&url));
    assert!(!url.to_ascii_lowercase().starts_with("javascript:"), "no script is navigated to");
    if url.starts_with("http") {
        assert_eq!(resolve(&url, EXTENSION), Ok(url), "what was read once stays");
    }
}

/// A manifest.
pub fn manifest(data: &[u8]) {
    let Ok(manifest) = serde_json::from_slice::<serde_json::Value>(data) else {
        return;
    };
    let manifest = match Manifest::read(&manifest) {
        Ok(manifest) => manifest,
        Err(reason) => return assert!(reason.ends_with('.'), "a fault is a sentence: {reason}"),
    };
    let extension = Extension::new(EXTENSION.into(), &manifest, false);
    assert!(
        !extension.may_read(1, "chrome://settings/"),
        "no manifest opens the browser's own pages"
    );
    assert!(!extension.may_read(1, "file:///etc/passwd"), "no manifest opens files by itself");
    let _ = (extension.has_all_urls(), extension.scripts_in("http://a.test/", 0));
}

/// The name of an operation, and its arguments as JSON on the next line.
pub fn arguments(data: &[u8]) {
    let (name, json) = lines(data);
    let Ok(given) = serde_json::from_str::<Vec<JsValue>>(&json) else {
        return;
    };
    let given: Vec<JsValue> = given.into_iter().map(JsValue::with_special_values).collect();
    if let Err(Error::Arguments { reason, .. }) = Command::read(&name, &given, Style::Promise) {
        assert!(reason.ends_with('.'), "a fault is a sentence: {reason}");
    }
}
