//! The warnings that the browser shows as it installs an extension, by permission (Spec tabs-api §5): `activeTab` has none.

use std::collections::BTreeSet;

use crate::extension::manifest::Manifest;
use crate::extension::match_pattern::MatchPattern;

/// A sentence, and what it stands for.
struct Rule {
    /// The permissions that bring it about, all of them together.
    of: &'static [&'static str],
    /// Those that need no sentence of their own beside it.
    covers: &'static [&'static str],
    sentence: &'static str,
}

/// Stands for the permission to read every site.
const ALL_SITES: &str = "<all_urls>";
/// Permissions that tell of pages that were visited.
const VISITS: &[&str] = &[
    "declarativeNetRequestFeedback",
    "favicon",
    "processes",
    "sessions",
    "tabs",
    "topSites",
    "webNavigation",
];
const HISTORY: &str = "Read your browsing history";
const CONTENT_SETTINGS: &str = "Change and grant access to features such as geolocation, microphone, camera, cookies, etc., for all your websites and extensions, including this extension.";

const fn rule(
    of: &'static [&'static str],
    covers: &'static [&'static str],
    sentence: &'static str,
) -> Rule {
    Rule { of, covers, sentence }
}

/// Warnings that come before the sentence that names single sites.
const BEFORE_SITES: &[Rule] = &[
    rule(&["debugger"], &[], "Access the page debugger backend"),
    rule(
        &[ALL_SITES],
        &[
            "declarativeNetRequest",
            "declarativeNetRequestFeedback",
            "favicon",
            "processes",
            "tabs",
            "topSites",
            "webNavigation",
        ],
        "Read and change all your data on all websites",
    ),
];

/// The others, in the order in which they are shown.
const RULES: &[Rule] = &[
    rule(&["geolocation"], &[], "Detect your physical location"),
    rule(
        &["history"],
        VISITS,
        "Read and change your browsing history on all your signed-in devices",
    ),
    rule(&["tabs", "sessions"], VISITS, "Read your browsing history on all your signed-in devices"),
    rule(&["tabs"], VISITS, HISTORY),
    rule(&["processes"], VISITS, HISTORY),
    rule(&["webNavigation"], VISITS, HISTORY),
    rule(&["declarativeNetRequestFeedback"], VISITS, HISTORY),
    rule(&["favicon"], &[], "Read the icons of the websites you visit"),
    rule(&["topSites"], &[], "Read a list of your most frequently visited websites"),
    rule(&["declarativeNetRequest"], &[], "Block content on any page"),
    rule(&["notifications"], &[], "Display notifications"),
    rule(
        &["accessibilityFeatures.read", "accessibilityFeatures.modify"],
        &[],
        "Read and change your accessibility settings",
    ),
    rule(&["accessibilityFeatures.read"], &[], "Read your accessibility settings"),
    rule(&["accessibilityFeatures.modify"], &[], "Change your accessibility settings"),
    rule(&["bookmarks"], &[], "Read and change your bookmarks"),
    rule(&["readingList"], &[], "Read and change entries in the reading list"),
    rule(&["clipboardRead", "clipboardWrite"], &[], "Read and modify data you copy and paste"),
    rule(&["clipboardRead"], &[], "Read data you copy and paste"),
    rule(&["clipboardWrite"], &[], "Modify data you copy and paste"),
    rule(&["desktopCapture"], &[], "Capture content of your screen"),
    rule(&["downloads"], &[], "Manage your downloads"),
    rule(&["downloads.open"], &[], "Open downloaded files"),
    rule(&["identity.email"], &[], "Know your email address"),
    rule(&["system.storage"], &[], "Identify and eject storage devices"),
    rule(&["contentSettings"], &[], CONTENT_SETTINGS),
    rule(&["management"], &[], "Manage your apps, extensions, and themes"),
    rule(&["nativeMessaging"], &[], "Communicate with cooperating native applications"),
    rule(&["privacy"], &[], "Change your privacy-related settings"),
    rule(&["tabGroups"], &[], "View and manage your tab groups"),
    rule(&["ttsEngine"], &[], "Read all text spoken using synthesized speech"),
];

/// Permissions that reach every site, whatever the manifest's patterns are.
const EVERYWHERE: [&str; 5] =
    ["debugger", "pageCapture", "proxy", "tabCapture", "webAuthenticationProxy"];

/// The warnings of a manifest, in the order in which the browser shows them.
#[must_use]
pub fn warnings(manifest: &Manifest) -> Vec<String> {
    let permissions = manifest.permissions.iter().map(String::as_str);
    let mut left: BTreeSet<&str> = permissions.collect();
    let patterns = patterns(manifest);
    let is_everywhere = EVERYWHERE.iter().any(|permission| left.contains(permission));
    if is_everywhere || patterns.iter().any(MatchPattern::covers_all_sites) {
        left.insert(ALL_SITES);
    }
    let reads_all = left.contains(ALL_SITES);
    let mut shown = said(BEFORE_SITES, &mut left);
    if !reads_all {
        let sites: BTreeSet<_> = patterns.iter().filter_map(MatchPattern::site).collect();
        shown.extend(sentence_of_sites(&sites.into_iter().collect::<Vec<_>>()));
    }
    shown.extend(said(RULES, &mut left));
    shown
}

/// The sentences of some rules, whose permissions are taken out of those that are left.
fn said(rules: &[Rule], left: &mut BTreeSet<&str>) -> Vec<String> {
    let mut shown = Vec::new();
    for rule in rules {
        if rule.of.iter().all(|permission| left.contains(permission)) {
            shown.push(rule.sentence.to_owned());
            left.retain(|permission| {
                !rule.of.contains(permission) && !rule.covers.contains(permission)
            });
        }
    }
    shown
}

/// The patterns of pages that it may read or runs scripts in.
fn patterns(manifest: &Manifest) -> Vec<MatchPattern> {
    let of_permissions = manifest.permissions.iter().filter(|_| manifest.manifest_version == 2);
    let of_scripts = manifest.content_scripts.iter().flat_map(|script| &script.matches);
    let all = manifest.host_permissions.iter().chain(of_permissions).chain(of_scripts);
    all.filter_map(|text| MatchPattern::parse(text)).collect()
}

fn sentence_of_sites(hosts: &[String]) -> Option<String> {
    let name = |host: &String| match host.strip_prefix("*.") {
        Some(parent) => format!("all {parent} sites"),
        None => host.clone(),
    };
    let sites: Vec<_> = hosts.iter().map(name).collect();
    let named = match sites.as_slice() {
        [] => return None,
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, two, three] => format!("{one}, {two}, and {three}"),
        _ => "a number of websites".to_owned(),
    };
    Some(format!("Read and change your data on {named}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(permissions: &[&str], hosts: &[&str]) -> Vec<String> {
        let manifest =
            json!({ "name": "x", "permissions": permissions, "host_permissions": hosts });
        warnings(&Manifest::read(&manifest).unwrap())
    }

    #[test]
    fn permissions_without_a_warning_raise_none() {
        assert_eq!(of(&["activeTab", "scripting", "storage", "sessions"], &[]), [""; 0]);
        assert_eq!(of(&["http://a.test/*"], &["file:///*"]), [""; 0]);
    }

    #[test]
    fn a_warning_stands_for_those_that_say_less() {
        assert_eq!(of(&["tabs", "topSites", "favicon"], &[]), [HISTORY]);
        assert_eq!(
            of(&["tabs", "sessions", "tabGroups"], &["<all_urls>"]),
            ["Read and change all your data on all websites", "View and manage your tab groups"]
        );
        assert_eq!(
            of(&["sessions", "tabs"], &[]),
            ["Read your browsing history on all your signed-in devices"]
        );
        assert_eq!(
            of(&["debugger", "tabs"], &["http://a.test/*"]),
            ["Access the page debugger backend", "Read and change all your data on all websites"]
        );
    }

    #[test]
    fn sites_are_named_up_to_three() {
        let sites = |hosts: &[&str]| of(&[], hosts).pop().unwrap();
        assert_eq!(
            sites(&["http://*.b.test/*", "https://a.test:8080/x", "http://a.test/*"]),
            "Read and change your data on all b.test sites and a.test"
        );
        assert_eq!(
            sites(&["http://c.test/*", "http://a.test/*", "http://b.test/*"]),
            "Read and change your data on a.test, b.test, and c.test"
        );
        assert_eq!(
            sites(&["http://c.test/*", "http://a.test/*", "http://b.test/*", "ftp://d.test/*"]),
            "Read and change your data on a number of websites"
        );
        for every in ["*://*/*", "https://*/*", "<all_urls>", "*://*.com/*"] {
            assert_eq!(sites(&[every]), "Read and change all your data on all websites", "{every}");
        }
    }

    #[test]
    fn they_stand_in_the_order_of_the_browser() {
        assert_eq!(
            of(&["downloads", "tabs", "geolocation", "bookmarks"], &["http://a.test/*"]),
            [
                "Read and change your data on a.test",
                "Detect your physical location",
                "Read your browsing history",
                "Read and change your bookmarks",
                "Manage your downloads"
            ]
        );
    }
}
