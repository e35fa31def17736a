//! Extensions: what their manifests grant, and what each of them may see of a tab.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::extension::manifest::{ContentScript, Incognito, Manifest, Reach};
use crate::extension::match_pattern::MatchPattern;
use crate::url::BLANK;

/// The schemes of pages that host permissions cover.
const OPEN_TO_HOSTS: [&str; 3] = ["http:", "https:", "ftp:"];
/// That of pages which they cover only where the user lets them.
const FILES: &str = "file:";
/// Those of the other pages that extensions may have to do with at all.
const OPEN_BESIDE: [&str; 3] = ["data:", "filesystem:", EXTENSIONS];
/// That of pages of extensions.
const EXTENSIONS: &str = "chrome-extension:";

fn is_of_any(url: &str, schemes: &[&str]) -> bool {
    schemes.iter().any(|scheme| url.starts_with(scheme))
}

/// True for a page of the browser's own.
pub(crate) fn is_browser_page(url: &str) -> bool {
    url.starts_with("chrome:")
}

/// True for a page of the shop of extensions.
pub(crate) fn is_gallery(url: &str) -> bool {
    let host = crate::url::host(url);
    ["chromewebstore.google.com", "chrome.google.com"].iter().any(|shop| {
        host.strip_suffix(shop).is_some_and(|start| start.is_empty() || start.ends_with('.'))
    })
}

/// True for a page that extensions may have to do with at all.
fn is_open_to_extensions(url: &str) -> bool {
    is_of_any(url, &OPEN_TO_HOSTS) || is_of_any(url, &[FILES]) || is_of_any(url, &OPEN_BESIDE)
}

/// The path of a file within an extension, which may begin with one slash; none of a folder, or of the machine.
pub(crate) fn path_of_file(path: &str) -> Option<String> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let is_within = !path.starts_with('/') && !path.ends_with('/');
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    is_within.then(|| parts.collect::<Vec<_>>().join("/"))
}

/// An extension that is installed.
#[derive(Debug, Clone)]
pub struct Extension {
    /// Its id: 32 letters from a to p.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The way it runs beside incognito windows.
    incognito: Incognito,
    /// True if the user lets it into incognito windows.
    is_let_incognito: bool,
    /// The version of its manifest, 2 or 3.
    pub manifest_version: u8,
    /// The permissions of its manifest.
    permissions: BTreeSet<String>,
    has_tabs: bool,
    has_groups: bool,
    has_active_tab: bool,
    hosts: Vec<MatchPattern>,
    /// True if it may read `file:` pages.
    has_files: bool,
    /// Tabs that the user invoked it on, with the host it was then; gone on navigation to another.
    granted: BTreeMap<i64, String>,
    content_scripts: Vec<Reach>,
    /// Its files, where they are known.
    files: Option<BTreeSet<String>>,
}

/// A part of an extension. Only one that is split by its manifest has two, which see nothing of each other's windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The one that every extension has.
    Main,
    /// The one that runs in incognito windows, and sees these alone.
    Incognito,
}

/// The access of somebody to tabs.
#[derive(Debug, Clone, Copy)]
pub enum Access<'e> {
    /// Everything: the browser's own eyes.
    Full,
    /// The access of an extension.
    Of(&'e Extension),
}

impl Access<'_> {
    /// True if the sensitive fields of this tab, while it shows this URL, are visible.
    #[must_use]
    pub fn sees(&self, tab: i64, url: &str) -> bool {
        match self {
            Self::Full => true,
            Self::Of(extension) => extension.has_tabs || extension.may_read(tab, url),
        }
    }
}

impl Extension {
    /// The extension of a manifest under an id.
    #[must_use]
    pub fn new(id: String, manifest: &Manifest, has_files: bool) -> Self {
        let patterns = |texts: &[String]| {
            texts.iter().filter_map(|text| MatchPattern::parse(text)).collect::<Vec<_>>()
        };
        let mut hosts = patterns(&manifest.host_permissions);
        if manifest.manifest_version == 2 {
            hosts.extend(patterns(&manifest.permissions));
        }
        let has = |name: &str| manifest.permissions.iter().any(|permission| permission == name);
        let scripts = manifest.content_scripts.iter();
        Self {
            id,
            name: manifest.name.clone(),
            incognito: manifest.incognito,
            is_let_incognito: false,
            manifest_version: manifest.manifest_version,
            permissions: manifest.permissions.iter().cloned().collect(),
            has_tabs: has("tabs"),
            has_groups: has("tabGroups"),
            has_active_tab: has("activeTab"),
            hosts,
            has_files,
            granted: BTreeMap::new(),
            content_scripts: scripts.map(ContentScript::reach).collect(),
            files: None,
        }
    }

    /// The same with the files that it has; without a list it has every file.
    #[must_use]
    pub fn with_files(mut self, files: Option<BTreeSet<String>>) -> Self {
        self.files = files;
        self
    }

    /// True if it has a file of this path.
    #[must_use]
    pub fn has_file(&self, path: &str) -> bool {
        let is_known =
            |files: &BTreeSet<String>| path_of_file(path).is_some_and(|path| files.contains(&path));
        self.files.as_ref().is_none_or(is_known)
    }

    /// The same, let into incognito windows by the user or not.
    #[must_use]
    pub const fn let_incognito(mut self, is_let: bool) -> Self {
        self.is_let_incognito = is_let;
        self
    }

    /// True if it sees incognito windows beside the others.
    #[must_use]
    pub const fn sees_incognito(&self) -> bool {
        self.is_let_incognito && matches!(self.incognito, Incognito::Spanning)
    }

    /// True if a part of it of its own runs in incognito windows.
    #[must_use]
    pub const fn is_split(&self) -> bool {
        self.is_let_incognito && matches!(self.incognito, Incognito::Split)
    }

    /// True if events of this name are told at all: those of groups and of sessions need their permissions.
    #[must_use]
    pub fn receives(&self, event: &str) -> bool {
        match event.split_once('.') {
            Some(("tabGroups", _)) => self.has_groups,
            Some(("sessions", _)) => self.has_permission("sessions"),
            _ => true,
        }
    }

    /// True if its manifest names a permission.
    #[must_use]
    pub fn has_permission(&self, name: &str) -> bool {
        self.permissions.contains(name)
    }

    /// True if the user lets it read `file:` pages.
    #[must_use]
    pub const fn reads_files(&self) -> bool {
        self.has_files
    }

    /// True if a host permission or an invocation covers a page.
    #[must_use]
    pub fn may_read(&self, tab: i64, url: &str) -> bool {
        if self.owns(url) {
            return true;
        }
        let is_readable =
            is_of_any(url, &OPEN_TO_HOSTS) || is_of_any(url, &[FILES]) && self.has_files;
        // An invocation on any other page is good for pictures of it alone.
        is_readable
            && (self.hosts.iter().any(|pattern| pattern.matches(url))
                || self.is_invoked_on(tab, url))
    }

    /// Refuses pages that no extension has to do with, whatever its permissions.
    ///
    /// # Errors
    /// Those of `no_access`, `Gallery`, `BrowserPage`, `OtherExtension`, in this order.
    pub(crate) fn check_open(&self, url: &str) -> Result<(), Error> {
        if !is_open_to_extensions(url) && !is_browser_page(url) && url != BLANK {
            return Err(self.no_access(url));
        }
        if is_gallery(url) {
            return Err(Error::Gallery);
        }
        if is_browser_page(url) {
            return Err(Error::BrowserPage);
        }
        if is_of_any(url, &[EXTENSIONS]) && !self.owns(url) {
            return Err(Error::OtherExtension);
        }
        Ok(())
    }

    /// The refusal of a page, which names the address to who may know it.
    pub(crate) fn no_access(&self, url: &str) -> Error {
        if self.has_tabs { Error::NoAccess(url.to_owned()) } else { Error::PageAccess }
    }

    /// True for a page of this extension.
    pub(crate) fn owns(&self, url: &str) -> bool {
        let path = url.strip_prefix("chrome-extension://");
        let path = path.and_then(|rest| rest.strip_prefix(self.id.as_str()));
        path.is_some_and(|path| path.starts_with('/'))
    }

    /// True if it may take pictures of any page.
    #[must_use]
    pub fn has_all_urls(&self) -> bool {
        self.hosts.iter().any(MatchPattern::is_all_urls)
    }

    /// True if its manifest names `activeTab`.
    #[must_use]
    pub const fn has_active_tab(&self) -> bool {
        self.has_active_tab
    }

    /// True if the user invoked it on this tab, and the tab still shows that host.
    #[must_use]
    pub fn is_invoked_on(&self, tab: i64, url: &str) -> bool {
        self.granted.get(&tab).is_some_and(|host| *host == crate::url::origin(url))
    }

    /// The user invoked it on a tab.
    pub fn invoke(&mut self, tab: i64, url: &str) {
        if self.has_active_tab {
            self.granted.insert(tab, crate::url::origin(url));
        }
    }

    /// True if it was invoked on a tab that shows this page now, of another host, or none any more.
    pub(crate) fn loses_grant(&self, tab: i64, url: Option<&str>) -> bool {
        self.granted.contains_key(&tab) && url.is_none_or(|url| !self.is_invoked_on(tab, url))
    }

    /// A tab went elsewhere or away.
    pub(crate) fn end_grant(&mut self, tab: i64) {
        self.granted.remove(&tab);
    }

    /// The files of its content scripts that run in a frame, if any script does.
    #[must_use]
    pub fn scripts_in(&self, url: &str, frame: u32) -> Option<Vec<String>> {
        let is_here = |script: &&Reach| (script.all_frames || frame == 0) && script.covers(url);
        let mut running = self.content_scripts.iter().filter(is_here).peekable();
        running.peek()?;
        Some(running.flat_map(|script| script.files.clone()).collect())
    }
}
