//! Addresses in arguments: of pages that there are, and patterns of them.

use serde_json::Value;

use super::argument::Arguments;
use super::random::Random;

/// Letters of the pages that are like one another.
const LETTERS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

impl Arguments {
    /// The path of a page.
    pub(super) fn path(&mut self) -> String {
        let letter = self.random.pick(&LETTERS).copied().unwrap_or("a");
        let special: &[&str] = match self.theme.name {
            "navigation" => &[
                "/notitle.html",
                "/slow.html",
                "/slowbody.html",
                "/redirect",
                "/hash.html",
                "/pushstate.html",
                "/204",
                "/status500",
                "/a.html#x",
                "/b.html#x",
                "/empty.html",
            ],
            "scripts" => &[
                "/en.html",
                "/de.html",
                "/fr.html",
                "/zh.html",
                "/ja.html",
                "/es.html",
                "/empty.html",
                "/numbers.html",
            ],
            "query" => &["/notitle.html", "/a.html?q=1", "/b.html#frag", "/en.html", "/A.html"],
            "messaging" => &["/frames.html", "/empty.html"],
            _ => &["/notitle.html", "/a.html#x"],
        };
        let is_special = self.random.chance(if self.theme.name == "scripts" { 50 } else { 30 });
        let special = self.random.pick(special).filter(|_| is_special);
        special.map_or_else(|| format!("/{letter}.html"), |path| (*path).to_owned())
    }

    /// The address of a page, or a blank one.
    pub(super) fn page_url(&mut self) -> String {
        if !self.random.chance(self.theme.pages) {
            return "about:blank".to_owned();
        }
        let path = self.path();
        let host = self.random.pick(&self.hosts).cloned().unwrap_or_default();
        format!("http://{host}{path}")
    }

    /// A value for `url` of a call that opens something: an address, or several.
    pub(super) fn urls(&mut self, op: &str) -> Value {
        if op != "windows.create" || self.random.chance(70) {
            return self.page_url().into();
        }
        (0..1 + self.random.below(3)).map(|_| self.page_url()).collect()
    }

    /// Patterns of addresses, not all of them well formed.
    pub(super) fn patterns(&mut self) -> Value {
        let hosts = ["a.test", "*.test", "*", "b.test", "A.TEST", "a.test:80", "*.*"];
        let paths = ["/*", "/a.html", "/?.html", "/a.html*", "/b.html", "*", "/a.html?q=1"];
        let schemes = [
            "http",
            "http",
            "*",
            "https",
            "chrome",
            "file",
            "data",
            "ftp",
            "chrome-extension",
            "about",
        ];
        let pattern = |random: &mut Random| {
            let mut part =
                |parts: &[&str]| random.pick(parts).copied().unwrap_or_default().to_owned();
            format!("{}://{}{}", part(&schemes), part(&hosts), part(&paths))
        };
        let whole = [
            "<all_urls>",
            "about:blank",
            "file:///*",
            "about:*",
            "data:*",
            "chrome://*/*",
            "http://a.test/*",
            "*://*/*",
        ];
        match self.random.below(10) {
            0..5 => self.word(&whole),
            5..8 => pattern(&mut self.random).into(),
            _ => (0..self.random.below(3)).map(|_| pattern(&mut self.random)).collect(),
        }
    }
}
