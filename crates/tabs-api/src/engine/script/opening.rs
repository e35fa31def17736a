//! Scripts that open pages, by `window.open` or a link, and those that act on the page which opened theirs.

use std::collections::BTreeMap;

use crate::engine::Opening;
use crate::engine::script::{Script, assigned};
use crate::engine::script_text::{quoted, quoted_arguments};

/// Names that stand for a place in the tab of the page itself.
const OWN_TAB: [&str; 3] = ["_self", "_top", "_parent"];
const NEW_TAB: &str = "_blank";
/// The members of an event that make a click on a link one that opens a tab.
const IN_TAB: [&str; 3] = ["ctrlKey:true", "metaKey:true", "button:1"];
/// The one that makes it one that opens a window.
const IN_WINDOW: &str = "shiftKey:true";

/// A click on a link, whose address, target and relation are assigned in turn.
pub(super) fn link_script(link: &str) -> Option<Script> {
    let url = quoted(link)?;
    let given =
        |name: &str| link.split_once(&format!("a.{name}=")).and_then(|(_, rest)| quoted(rest));
    if given("download").is_some() {
        return None;
    }
    if IN_TAB.iter().any(|member| link.contains(member)) {
        return Some(Script::OpenLink { url, is_in_window: false });
    }
    if link.contains(IN_WINDOW) {
        return Some(Script::OpenLink { url, is_in_window: true });
    }
    let relation = given("rel").unwrap_or_default().to_lowercase();
    let is_related_by = |word: &str| relation.split_whitespace().any(|known| known == word);
    let is_apart = is_related_by("noopener") || is_related_by("noreferrer");
    let target = given("target").unwrap_or_default();
    Some(match target.to_lowercase().as_str() {
        "" => Script::Go(url),
        own if OWN_TAB.contains(&own) => Script::Go(url),
        // Such a link tells the page that it opens nothing of its own, unless it says otherwise.
        NEW_TAB => {
            let is_noopener = is_apart || !is_related_by("opener");
            Script::Open(Opening { url, name: None, is_popup: false, is_noopener })
        }
        _ => {
            let name = Some(target).filter(|_| !is_apart);
            Script::Open(Opening { url, name, is_popup: false, is_noopener: is_apart })
        }
    })
}

/// The code that a page runs on the one that opened it: what follows `opener.`.
pub(super) fn opener_script(code: &str) -> Option<Script> {
    let called = |name: &str| code.strip_prefix(name).and_then(quoted);
    let target = assigned(code, "location").or_else(|| assigned(code, "location.href"));
    if let Some(url) = target.or_else(|| called("location.assign(")) {
        return Some(Script::GoInOpener { url, replaces: false });
    }
    if let Some(url) = called("location.replace(") {
        return Some(Script::GoInOpener { url, replaces: true });
    }
    // The user did nothing on that page by which it might open another one.
    if code.starts_with("window.") {
        return None;
    }
    Some(match code.strip_prefix("close(") {
        Some(_) => Script::CloseOpener,
        None => Script::InOpener(code.to_owned()),
    })
}

/// Reads `window.open(url, name, features)`, and whether the page closes at once what it opens. Without an address it is empty.
pub(super) fn opening_script(action: &str) -> Option<Script> {
    let given = quoted_arguments(action);
    let name = given.get(1).map(String::as_str).unwrap_or_default();
    let is_closed = action.split_once(')').is_some_and(|(_, rest)| rest.starts_with(".close("));
    let url = given.first().cloned().unwrap_or_default();
    let keyword = name.to_lowercase();
    if OWN_TAB.contains(&keyword.as_str()) {
        return Some(url).filter(|url| !url.is_empty()).map(Script::Go);
    }
    let features = WindowFeatures::read(given.get(2).map(String::as_str).unwrap_or_default());
    let opening = Opening {
        url,
        name: Some(name).filter(|_| !["", NEW_TAB].contains(&&*keyword)).map(str::to_owned),
        is_popup: features.is_popup(),
        is_noopener: features.0.contains_key("noopener") || features.0.contains_key("noreferrer"),
    };
    Some(if is_closed { Script::OpenAndClose(opening) } else { Script::Open(opening) })
}

/// The third argument of `window.open`, by name.
struct WindowFeatures(BTreeMap<String, String>);

impl WindowFeatures {
    fn read(text: &str) -> Self {
        let parts = text.split([',', ' ']).filter(|part| !part.is_empty());
        let pairs = parts.map(|part| part.split_once('=').unwrap_or((part, "yes")));
        Self(pairs.map(|(name, value)| (name.to_lowercase(), value.to_lowercase())).collect())
    }

    fn is_set(&self, name: &str, otherwise: bool) -> bool {
        let value = self.0.get(name).map(String::as_str);
        value.map_or(otherwise, |value| {
            matches!(value, "" | "yes" | "true")
                || value.parse().is_ok_and(|number: i64| number != 0)
        })
    }

    /// True if they ask for a window of its own, by the rules of HTML.
    fn is_popup(&self) -> bool {
        let is_other = |name: &&String| !matches!(name.as_str(), "noopener" | "noreferrer");
        if !self.0.keys().any(|name| is_other(&name)) {
            return false;
        }
        if self.0.contains_key("popup") {
            return self.is_set("popup", false);
        }
        let has_bars = self.is_set("location", false) || self.is_set("toolbar", false);
        !has_bars
            || !self.is_set("menubar", false)
            || !self.is_set("resizable", true)
            || !self.is_set("scrollbars", false)
            || !self.is_set("status", false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(url: &str, name: Option<&str>, is_noopener: bool) -> Option<Script> {
        let name = name.map(str::to_owned);
        Some(Script::Open(Opening { url: url.into(), name, is_popup: false, is_noopener }))
    }

    #[test]
    fn a_link_says_how_it_relates_to_its_page() {
        for (link, script) in [
            ("'/b';a.rel='noreferrer';a.target='one'", opened("/b", None, true)),
            ("'/b';a.target='_Blank';a.rel='opener'", opened("/b", None, false)),
            ("'/b';a.target='_SELF'", Some(Script::Go("/b".into()))),
            ("'/b';a.download='x'", None),
        ] {
            assert_eq!(link_script(link), script, "{link}");
        }
        let link = |event: &str| link_script(&format!("'/b';a.dispatchEvent({{{event}}})"));
        let opens = |is_in_window| Some(Script::OpenLink { url: "/b".into(), is_in_window });
        assert_eq!(link("ctrlKey:true,shiftKey:true"), opens(false));
        assert_eq!(link("button:1"), opens(false));
        assert_eq!(link("shiftKey:true"), opens(true));
    }

    #[test]
    fn names_that_are_keywords_have_any_case() {
        let go = Some(Script::Go("/b".into()));
        assert_eq!(opening_script("window.open('/b','_Top')"), go);
        assert_eq!(opening_script("window.open('/b','_BLANK')"), opened("/b", None, false));
        assert_eq!(opening_script("window.open('','_self')"), None);
        let name = Some("one".to_owned());
        let opening = Opening { url: "/b".into(), name, is_popup: false, is_noopener: false };
        let closed = Some(Script::OpenAndClose(opening));
        assert_eq!(opening_script("window.open('/b','one').close();0"), closed);
    }

    #[test]
    fn a_page_does_in_its_opener_what_that_could_do_itself() {
        assert_eq!(opener_script("close();0"), Some(Script::CloseOpener));
        let code = "location.hash='y'";
        assert_eq!(opener_script(code), Some(Script::InOpener(code.into())));
        let goes = |replaces| Some(Script::GoInOpener { url: "/b".into(), replaces });
        assert_eq!(opener_script("location.href='/b'"), goes(false));
        assert_eq!(opener_script("location.replace('/b')"), goes(true));
        assert_eq!(opener_script("window.open('/b')"), None);
    }
}
