//! The manifest of an extension: the parts that decide what it may do and where its content scripts run.
//!
//! A missing member has its default; one that is there must be right, and is refused in the browser's own words otherwise.

use serde_json::{Map, Value};

use crate::extension::match_pattern::{MatchPattern, glob};

/// The parts of a manifest that count here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// 2 or 3.
    pub manifest_version: u8,
    /// Its name.
    pub name: String,
    /// `tabs`, `activeTab`, `tabGroups`, ...; in version 2 host patterns stand here too.
    pub permissions: Vec<String>,
    /// Match patterns of pages that it may read.
    pub host_permissions: Vec<String>,
    /// Content scripts with the patterns of the pages that they run in.
    pub content_scripts: Vec<ContentScript>,
    /// The way it runs beside incognito windows.
    pub incognito: Incognito,
}

/// The part of an extension that runs for incognito windows, where the user lets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Incognito {
    /// The one that runs anyway sees all windows.
    #[default]
    Spanning,
    /// One of its own.
    Split,
    /// None, whatever the user says.
    NotAllowed,
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            manifest_version: 3,
            name: String::new(),
            permissions: Vec::new(),
            host_permissions: Vec::new(),
            content_scripts: Vec::new(),
            incognito: Incognito::default(),
        }
    }
}

/// A content script of a manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentScript {
    /// The patterns of the pages that it runs in.
    pub matches: Vec<String>,
    /// The patterns of those that it does not run in.
    pub exclude_matches: Vec<String>,
    /// The globs of addresses that it runs in; all of them if there are none.
    pub include_globs: Vec<String>,
    /// The globs of those that it does not run in.
    pub exclude_globs: Vec<String>,
    /// True if it runs in every frame.
    pub all_frames: bool,
    /// Its scripts and style sheets.
    pub files: Vec<String>,
}

/// The pages that a content script runs in, their patterns read once.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    matches: Vec<MatchPattern>,
    excluded: Vec<MatchPattern>,
    include_globs: Vec<String>,
    exclude_globs: Vec<String>,
    pub(crate) all_frames: bool,
    pub(crate) files: Vec<String>,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// A sentence that names the first member that is wrong.
    pub fn read(manifest: &Value) -> Result<Self, String> {
        let members = manifest
            .as_object()
            .ok_or("Manifest file is missing or unreadable: it is a JSON object.")?;
        let version = manifest_version(members)?;
        let name = members.get("name").and_then(Value::as_str);
        let name = name.filter(|name| !name.trim().is_empty());
        check_version(members)?;
        let permissions = texts(members, "permissions", "")?;
        let host_permissions = texts(members, "host_permissions", "")?;
        check_patterns(&host_permissions, "host_permissions")?;
        if version == 2 {
            let is_host = |text: &&String| text.contains("://") || *text == "<all_urls>";
            for (at, text) in permissions.iter().enumerate() {
                if is_host(&text) {
                    check_pattern(text, &format!("permissions[{at}]"))?;
                }
            }
        }
        Ok(Self {
            manifest_version: version,
            name: name.ok_or("Required value 'name' is missing or invalid.")?.to_owned(),
            permissions,
            host_permissions,
            content_scripts: content_scripts(members)?,
            incognito: incognito(members)?,
        })
    }
}

impl ContentScript {
    pub(crate) fn reach(&self) -> Reach {
        let patterns =
            |texts: &[String]| texts.iter().filter_map(|text| MatchPattern::parse(text)).collect();
        Reach {
            matches: patterns(&self.matches),
            excluded: patterns(&self.exclude_matches),
            include_globs: self.include_globs.clone(),
            exclude_globs: self.exclude_globs.clone(),
            all_frames: self.all_frames,
            files: self.files.clone(),
        }
    }
}

impl Reach {
    /// True if it covers a page.
    pub(crate) fn covers(&self, url: &str) -> bool {
        let any = |patterns: &[MatchPattern]| patterns.iter().any(|pattern| pattern.matches(url));
        let any_glob = |globs: &[String]| globs.iter().any(|pattern| glob(pattern, url, false));
        any(&self.matches)
            && !any(&self.excluded)
            && (self.include_globs.is_empty() || any_glob(&self.include_globs))
            && !any_glob(&self.exclude_globs)
    }
}

fn manifest_version(members: &Map<String, Value>) -> Result<u8, String> {
    match members.get("manifest_version") {
        None => Ok(3),
        Some(version) => match version.as_u64() {
            Some(2) => Ok(2),
            Some(3) => Ok(3),
            _ => Err("Invalid value for 'manifest_version'. Must be 2 or 3.".into()),
        },
    }
}

fn incognito(members: &Map<String, Value>) -> Result<Incognito, String> {
    match members.get("incognito").map(Value::as_str) {
        None | Some(Some("spanning")) => Ok(Incognito::Spanning),
        Some(Some("split")) => Ok(Incognito::Split),
        Some(Some("not_allowed")) => Ok(Incognito::NotAllowed),
        Some(_) => Err("Invalid value for 'incognito'.".into()),
    }
}

fn check_version(members: &Map<String, Value>) -> Result<(), String> {
    let Some(version) = members.get("version") else {
        return Ok(());
    };
    let is_number =
        |part: &str| !part.starts_with('+') && part.parse::<u32>().is_ok_and(|n| n <= 65_536);
    let is_right = version.as_str().is_some_and(|text| {
        let parts: Vec<_> = text.split('.').collect();
        parts.len() <= 4 && parts.iter().all(|part| is_number(part))
    });
    is_right.then_some(()).ok_or_else(|| {
        "Required value 'version' is missing or invalid. It must be between 1-4 dot-separated integers each between 0 and 65536.".into()
    })
}

fn content_scripts(members: &Map<String, Value>) -> Result<Vec<ContentScript>, String> {
    let Some(list) = members.get("content_scripts") else {
        return Ok(Vec::new());
    };
    let list = list.as_array().ok_or("Invalid value for 'content_scripts'.")?;
    let read = |(at, script)| content_script(at, script);
    list.iter().enumerate().map(read).collect()
}

fn content_script(at: usize, script: &Value) -> Result<ContentScript, String> {
    let place = format!("content_scripts[{at}]");
    let members = script.as_object().ok_or_else(|| format!("Invalid value for '{place}'."))?;
    let within = format!("{place}.");
    let texts = |name| texts(members, name, &within);
    let (matches, exclude_matches) = (texts("matches")?, texts("exclude_matches")?);
    if matches.is_empty() {
        return Err(format!(
            "Invalid value for '{place}.matches': There must be at least one match specified."
        ));
    }
    check_patterns(&matches, &format!("{place}.matches"))?;
    check_patterns(&exclude_matches, &format!("{place}.exclude_matches"))?;
    let mut files = texts("js")?;
    files.extend(texts("css")?);
    if files.is_empty() {
        return Err(format!("At least one js or css file is required for '{place}'."));
    }
    let all_frames = match members.get("all_frames") {
        None => false,
        Some(flag) => {
            flag.as_bool().ok_or_else(|| format!("Invalid value for '{place}.all_frames'."))?
        }
    };
    Ok(ContentScript {
        matches,
        exclude_matches,
        include_globs: texts("include_globs")?,
        exclude_globs: texts("exclude_globs")?,
        all_frames,
        files,
    })
}

/// A list of texts; absent, it is empty.
fn texts(members: &Map<String, Value>, name: &str, within: &str) -> Result<Vec<String>, String> {
    let Some(value) = members.get(name) else {
        return Ok(Vec::new());
    };
    let list = value.as_array().ok_or_else(|| format!("Invalid value for '{within}{name}'."))?;
    let text = |(at, item): (usize, &Value)| {
        let text = item.as_str().map(str::to_owned);
        text.ok_or_else(|| format!("Invalid value for '{within}{name}[{at}]'."))
    };
    list.iter().enumerate().map(text).collect()
}

fn check_patterns(texts: &[String], name: &str) -> Result<(), String> {
    let mut numbered = texts.iter().enumerate();
    numbered.try_for_each(|(at, text)| check_pattern(text, &format!("{name}[{at}]")))
}

fn check_pattern(text: &str, name: &str) -> Result<(), String> {
    match MatchPattern::parse(text) {
        Some(_) => Ok(()),
        None => Err(format!("Invalid value for '{name}': '{text}' is no match pattern.")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_missing_has_its_default() {
        let manifest = Manifest::read(&json!({ "name": "a" })).unwrap();
        let expected = Manifest { name: "a".into(), ..Manifest::default() };
        assert_eq!(manifest, expected);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let script = |script: Value| json!({ "name": "a", "content_scripts": [script] });
        let rows = [
            (json!("a"), "JSON object"),
            (json!({}), "'name' is missing"),
            (json!({ "name": 1 }), "'name' is missing"),
            (json!({ "name": "a", "manifest_version": 1 }), "Must be 2 or 3"),
            (json!({ "name": "a", "manifest_version": "3" }), "Must be 2 or 3"),
            (json!({ "name": "a", "version": "1.x" }), "1-4 dot-separated"),
            (json!({ "name": "a", "version": "1.2.3.4.5" }), "1-4 dot-separated"),
            (json!({ "name": "a", "permissions": "tabs" }), "'permissions'"),
            (json!({ "name": "a", "permissions": ["tabs", 1] }), "'permissions[1]'"),
            (json!({ "name": "a", "host_permissions": ["*"] }), "'host_permissions[0]': '*'"),
            (
                json!({ "name": "a", "manifest_version": 2, "permissions": ["foo://bar"] }),
                "'permissions[0]'",
            ),
            (script(json!(1)), "'content_scripts[0]'"),
            (script(json!({ "js": ["a.js"] })), "at least one match"),
            (
                script(json!({ "matches": ["x"], "js": ["a.js"] })),
                "'content_scripts[0].matches[0]'",
            ),
            (script(json!({ "matches": ["<all_urls>"] })), "At least one js or css file"),
            (
                script(json!({ "matches": ["<all_urls>"], "js": ["a"], "all_frames": 1 })),
                "all_frames",
            ),
        ];
        for (manifest, expected) in rows {
            let error = Manifest::read(&manifest).unwrap_err();
            assert!(error.contains(expected), "{manifest}: {error}");
        }
    }

    #[test]
    fn a_content_script_runs_where_it_matches_and_is_not_excluded() {
        let script = ContentScript {
            matches: vec!["https://*.a.test/*".into()],
            exclude_matches: vec!["https://*/private/*".into()],
            exclude_globs: vec!["*.png".into()],
            ..ContentScript::default()
        };
        let reach = script.reach();
        assert!(reach.covers("https://www.a.test/x"));
        assert!(!reach.covers("https://www.a.test/private/x"));
        assert!(!reach.covers("https://www.a.test/x.png"));
        assert!(!reach.covers("https://b.test/"));
    }
}
