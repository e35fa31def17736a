//! A page as it is served: its files are in the binary, under a folder that is named by the digest of all of them, so that a browser may
//! keep them for ever.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use sha2::{Digest, Sha256};

use super::{Page, PageFile};
use crate::host::server::{Operation, Refusal, ReplyBody};

/// A file of the frame, by its name.
macro_rules! frame {
    ($($name:literal)*) => {
        &[$(PageFile { name: $name, text: include_str!(concat!("frame/", $name)) }),*]
    };
}

static FRAME: &[PageFile] = frame!("chart.js" "client.js" "dialog.js" "dom.js" "events.js" "faults.js" "frame.css" "frame.js" "health.js" "icon.svg" "pages.js"
    "requests.js" "start.js");
const INDEX: &str = include_str!("frame/index.html");

/// Lets the page do in a browser nothing but its own files and its own origin, and no text becomes markup.
const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// Returns whether a path is that of the page, also as a person types it without its slash.
pub(in crate::host) fn is_page(path: &str) -> bool {
    path.strip_prefix("/_ui").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A page as it is served.
#[derive(Debug)]
pub(in crate::host) struct ServedPage {
    index: Bytes,
    /// The path of its files, with a slash at the end.
    folder: String,
    files: Vec<PageFile>,
}

impl ServedPage {
    pub(in crate::host) fn new(page: &Page) -> Self {
        let files: Vec<_> = FRAME.iter().chain(page.files).copied().collect();
        let mut digest = Sha256::new();
        for PageFile { name, text } in &files {
            digest.update((name.len() as u64).to_be_bytes());
            digest.update(name);
            digest.update((text.len() as u64).to_be_bytes());
            digest.update(text);
        }
        let digest = hex::encode(digest.finalize());
        let name = digest.get(..16).unwrap_or(&digest);
        let index = INDEX
            .replace("{folder}", name)
            .replace("{name}", page.name)
            .replace("{version}", page.version);
        Self { index: index.into(), folder: format!("/_ui/{name}/"), files }
    }

    /// Answers a request to the page.
    ///
    /// # Errors
    /// [`Refusal::NoSuchControlPath`], [`Refusal::MethodNotAllowed`].
    pub(in crate::host) fn answer(
        &self,
        method: &Method,
        path: &str,
    ) -> Result<Response<ReplyBody>, Refusal> {
        let found = match path {
            "/_ui" => None,
            "/_ui/" => Some(("text/html; charset=utf-8", "no-cache", self.index.clone())),
            _ => {
                let name = path.strip_prefix(&self.folder).ok_or(Refusal::NoSuchControlPath)?;
                let file = self.files.iter().find(|file| file.name == name);
                let file = file.ok_or(Refusal::NoSuchControlPath)?;
                let forever = "public, max-age=31536000, immutable";
                Some((kind_of(name), forever, Bytes::from_static(file.text.as_bytes())))
            }
        };
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Err(Refusal::MethodNotAllowed("GET, HEAD"));
        }
        let Some((kind, caching, text)) = found else {
            return Ok(to_the_slash());
        };
        let mut response = Response::new(ReplyBody::whole(text));
        for (name, value) in [
            (header::CONTENT_TYPE, kind),
            (header::CACHE_CONTROL, caching),
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        ] {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response.extensions_mut().insert(Operation("page"));
        Ok(response)
    }
}

/// The answer to the page's name without its slash. Its place is relative, as a proxy may have a prefix before the name.
fn to_the_slash() -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(Bytes::new()));
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("_ui/"));
    response.extensions_mut().insert(Operation("page"));
    response
}

/// The content type of a file.
fn kind_of(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &[PageFile] = &[PageFile { name: "service.js", text: "export const service = {};" }];
    const PAGE: Page = Page { name: "thing", version: "1.2", files: OWN };

    #[test]
    fn every_file_that_a_file_imports_is_there() {
        let served = ServedPage::new(&PAGE);
        for file in &served.files {
            for line in file.text.lines().filter(|line| line.contains(" from './")) {
                let name = line.split(" from './").nth(1).unwrap();
                let name = name.trim_end_matches("';");
                assert!(served.files.iter().any(|file| file.name == name), "{}: {line}", file.name);
            }
        }
    }

    #[test]
    fn files_are_kept_for_ever_under_a_name_that_changes_with_them_and_the_page_is_asked_for_anew()
    {
        let served = ServedPage::new(&PAGE);
        let caching = |path: &str| {
            let answer = served.answer(&Method::GET, path).unwrap();
            answer.headers()[header::CACHE_CONTROL].to_str().unwrap().to_owned()
        };
        assert_eq!(caching("/_ui/"), "no-cache");
        assert!(caching(&format!("{}service.js", served.folder)).contains("immutable"));
        const OTHER: &[PageFile] = &[PageFile { name: "service.js", text: "" }];
        let other = ServedPage::new(&Page { files: OTHER, ..PAGE });
        assert_ne!(served.folder, other.folder);
        let index = String::from_utf8(served.index.to_vec()).unwrap();
        assert!(
            !index.contains('{') && index.contains("thing") && index.contains("1.2"),
            "{index}"
        );
    }

    #[test]
    fn what_is_no_file_of_the_page_is_not_there_and_only_reads_are_answered() {
        let served = ServedPage::new(&PAGE);
        let frame = format!("{}frame.js", served.folder);
        for path in ["/_ui/x", "/_ui/0/frame.js", &format!("{frame}x"), "/_ui//frame.js"] {
            let refused = served.answer(&Method::GET, path).unwrap_err();
            assert_eq!(refused, Refusal::NoSuchControlPath, "{path}");
        }
        assert_eq!(
            served.answer(&Method::POST, &frame).unwrap_err(),
            Refusal::MethodNotAllowed("GET, HEAD")
        );
        let answer = served.answer(&Method::HEAD, "/_ui/").unwrap();
        let policy = answer.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(
            !policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
    }

    #[test]
    fn the_name_of_the_page_without_its_slash_leads_to_the_page() {
        let served = ServedPage::new(&PAGE);
        for method in [Method::GET, Method::HEAD] {
            let answer = served.answer(&method, "/_ui").unwrap();
            assert_eq!(answer.status(), StatusCode::PERMANENT_REDIRECT);
            assert_eq!(answer.headers()[header::LOCATION], "_ui/");
        }
        assert_eq!(
            served.answer(&Method::POST, "/_ui").unwrap_err(),
            Refusal::MethodNotAllowed("GET, HEAD")
        );
    }

    #[test]
    fn no_file_of_the_frame_holds_markup_in_a_script_or_an_address_of_elsewhere() {
        for file in FRAME {
            for word in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "https://",
            ] {
                assert!(!file.text.contains(word), "{} has {word}", file.name);
            }
        }
        assert!(!INDEX.contains("<style") && !INDEX.contains(" on") && !INDEX.contains("https://"));
    }
}
