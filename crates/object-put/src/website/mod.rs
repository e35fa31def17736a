//! Websites of buckets: their configuration, where a request for a page leads, and the pages of faults.

pub mod fault_page;
pub mod routing;

use serde::{Deserialize, Serialize};
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::request::xml::{Element, XmlWriter};
use crate::store::bucket_setting;

/// The name under which the website of a bucket is kept.
pub const CONFIG_NAME: &str = "website";
/// The most rules of a website.
const RULES_MAX: usize = 50;
/// The most bytes of a document.
const DOCUMENT_BYTES_MAX: usize = 128 * 1024;
const KEY_PREFIX: &str = "ReplaceKeyPrefixWith";
const KEY: &str = "ReplaceKeyWith";

/// The website of a bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Website {
    /// Every request leads to another host.
    Elsewhere(Place),
    /// The bucket's objects are pages.
    Pages(Pages),
}

/// The host that requests are led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// Its name.
    pub host: String,
    /// `http` or `https`; that of the request without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
}

/// A website whose pages are objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pages {
    /// The end of the key of a folder's page.
    pub index: String,
    /// The key of the page that is shown for faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Rules that lead elsewhere, the first that fits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RoutingRule>,
}

/// A rule that leads requests elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RoutingRule {
    /// The status of the fault that it is for; without, it comes before the look at the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<u16>,
    /// The start of the keys that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// The host that it leads to; the same without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The status of the answer; 301 without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// `http` or `https`; that of the request without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The start that the key gets in the place of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_prefix: Option<String>,
    /// The key that it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_key: Option<String>,
}

/// The text of a child that may be missing.
fn optional(element: &Element, name: &str) -> Option<String> {
    element.text_of(name).map(str::to_owned)
}

/// The protocol of a redirect.
fn protocol(element: &Element) -> Result<Option<String>, Error> {
    match optional(element, "Protocol") {
        Some(other) if !["http", "https"].contains(&other.as_str()) => Err(Error::request(
            "Invalid protocol, protocol can be http or https. If not defined the protocol will be selected automatically.",
        )),
        protocol => Ok(protocol),
    }
}

impl Website {
    /// The website of a `WebsiteConfiguration` document.
    ///
    /// # Errors
    /// `MessageTooLong`; `MalformedXml`; `InvalidArgument`, `InvalidRequest`, as the real service words them.
    pub fn from_xml(body: &[u8]) -> Result<Self, Error> {
        if body.len() > DOCUMENT_BYTES_MAX {
            return Err(Error::MessageTooLong { most: DOCUMENT_BYTES_MAX });
        }
        let root = Element::parse(body, "WebsiteConfiguration")?;
        let once = ["RedirectAllRequestsTo", "IndexDocument", "ErrorDocument", "RoutingRules"];
        root.has_only(&once, &[])?;
        if let Some(all) = root.child("RedirectAllRequestsTo") {
            if root.children.len() > 1 {
                let reason = "RedirectAllRequestsTo cannot be provided in conjunction with other Routing Rules.";
                return Err(Error::argument("RedirectAllRequestsTo", Some("not null"), reason));
            }
            all.has_only(&["HostName", "Protocol"], &[])?;
            let host = all.required("HostName")?.to_owned();
            if host.is_empty() {
                return Err(Error::MalformedXml);
            }
            return Ok(Self::Elsewhere(Place { host, protocol: protocol(all)? }));
        }
        let index = root.child("IndexDocument").ok_or_else(|| {
            let reason =
                "A value for IndexDocument Suffix must be provided if RedirectAllRequestsTo is empty";
            Error::argument("IndexDocument", Some("null"), reason)
        })?;
        index.has_only(&["Suffix"], &[])?;
        let index = index.text_of("Suffix").unwrap_or_default();
        if index.is_empty() || index.contains('/') {
            let reason = "The IndexDocument Suffix is not well formed";
            return Err(Error::argument("IndexDocument", Some(index), reason));
        }
        let error = match root.child("ErrorDocument") {
            None => None,
            Some(own) => {
                own.has_only(&["Key"], &[])?;
                let key = own.text_of("Key").ok_or(Error::MalformedXml)?;
                if key.is_empty() {
                    let reason = "The ErrorDocument Key is not well formed";
                    return Err(Error::argument("ErrorDocument", Some(key), reason));
                }
                Some(key)
            }
        };
        let rules = match root.child("RoutingRules") {
            None => Vec::new(),
            Some(own) => rules(own)?,
        };
        Ok(Self::Pages(Pages { index: index.to_owned(), error: error.map(str::to_owned), rules }))
    }

    /// The website of a bucket, if it has one.
    ///
    /// # Errors
    /// As reads of the store; [`Error::Damaged`] for one that cannot be read.
    pub fn of_bucket(tx: &mut Tx<'_>, bucket: u64) -> Result<Option<Self>, Error> {
        let row = bucket_setting::read(tx, bucket, CONFIG_NAME)?;
        row.map(|bytes| serde_json::from_slice(&bytes).map_err(|_| Error::Damaged)).transpose()
    }

    /// The document again.
    #[must_use]
    pub fn document(&self, namespace: &str) -> String {
        XmlWriter::document("WebsiteConfiguration", namespace, |writer| match self {
            Self::Elsewhere(place) => writer.element("RedirectAllRequestsTo", |writer| {
                writer.text("HostName", &place.host);
                writer.text_if("Protocol", place.protocol.as_ref());
            }),
            Self::Pages(pages) => {
                writer.element("IndexDocument", |writer| writer.text("Suffix", &pages.index));
                if let Some(key) = &pages.error {
                    writer.element("ErrorDocument", |writer| writer.text("Key", key));
                }
                if !pages.rules.is_empty() {
                    writer.element("RoutingRules", |writer| {
                        pages.rules.iter().for_each(|rule| rule.write(writer));
                    });
                }
            }
        })
    }
}

/// The rules of an element.
fn rules(element: &Element) -> Result<Vec<RoutingRule>, Error> {
    element.has_only(&[], &["RoutingRule"])?;
    let rules = element.children.iter().map(RoutingRule::of).collect::<Result<Vec<_>, _>>()?;
    match rules.len() {
        0 => Err(Error::MalformedXml),
        count if count > RULES_MAX => Err(Error::request(format!(
            "{count} routing rules provided, the number of routing rules in a website configuration is limited to {RULES_MAX}."
        ))),
        _ => Ok(rules),
    }
}

/// A status that its element may name.
fn status(
    element: &Element,
    name: &str,
    fits: fn(u16) -> bool,
    wrong: fn(&str) -> String,
) -> Result<Option<u16>, Error> {
    let Some(text) = element.text_of(name) else {
        return Ok(None);
    };
    let status = text.parse().map_err(|_| Error::MalformedXml)?;
    if fits(status) { Ok(Some(status)) } else { Err(Error::request(wrong(text))) }
}

impl RoutingRule {
    fn of(element: &Element) -> Result<Self, Error> {
        element.has_only(&["Condition", "Redirect"], &[])?;
        let redirect = element.child("Redirect").ok_or(Error::MalformedXml)?;
        let once = ["HostName", "HttpRedirectCode", "Protocol", KEY_PREFIX, KEY];
        redirect.has_only(&once, &[])?;
        let empty = Element::default();
        let condition = match element.child("Condition") {
            None => &empty,
            Some(condition) => condition,
        };
        condition.has_only(&["HttpErrorCodeReturnedEquals", "KeyPrefixEquals"], &[])?;
        let fault = status(
            condition,
            "HttpErrorCodeReturnedEquals",
            |status| matches!(status, 400..=417 | 500..=505),
            |text| {
                format!(
                    "The provided HTTP error code ({text}) is not valid. Valid codes are 4XX or 5XX."
                )
            },
        )?;
        let prefix = optional(condition, "KeyPrefixEquals");
        if element.child("Condition").is_some() && fault.is_none() && prefix.is_none() {
            return Err(Error::request(
                "Condition cannot be empty. To redirect all requests without a condition, the condition element shouldn't be present.",
            ));
        }
        let protocol = protocol(redirect)?;
        let new_prefix = optional(redirect, KEY_PREFIX);
        let new_key = optional(redirect, KEY);
        if new_prefix.is_some() && new_key.is_some() {
            return Err(Error::request(
                "You can only define ReplaceKeyPrefix or ReplaceKey but not both.",
            ));
        }
        let status = status(
            redirect,
            "HttpRedirectCode",
            |status| matches!(status, 301..=305 | 307 | 308),
            |text| {
                format!(
                    "The provided HTTP redirect code ({text}) is not valid. Valid codes are 3XX except 300."
                )
            },
        )?;
        let host = optional(redirect, "HostName").filter(|host| !host.is_empty());
        // It would lead every request to itself.
        let leads = [&host, &protocol, &new_prefix, &new_key].into_iter().any(Option::is_some);
        if !leads && status.is_none() {
            return Err(Error::MalformedXml);
        }
        Ok(Self { fault, prefix, host, status, protocol, new_prefix, new_key })
    }

    fn write(&self, writer: &mut XmlWriter) {
        writer.element("RoutingRule", |writer| {
            if self.fault.is_some() || self.prefix.is_some() {
                writer.element("Condition", |writer| {
                    writer.text_if("HttpErrorCodeReturnedEquals", self.fault);
                    writer.text_if("KeyPrefixEquals", self.prefix.as_ref());
                });
            }
            writer.element("Redirect", |writer| {
                writer.text_if("HostName", self.host.as_ref());
                writer.text_if("HttpRedirectCode", self.status);
                writer.text_if("Protocol", self.protocol.as_ref());
                writer.text_if(KEY_PREFIX, self.new_prefix.as_ref());
                writer.text_if(KEY, self.new_key.as_ref());
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(inner: &str) -> Result<Website, Error> {
        Website::from_xml(
            format!("<WebsiteConfiguration>{inner}</WebsiteConfiguration>").as_bytes(),
        )
    }

    const INDEX: &str = "<IndexDocument><Suffix>index.html</Suffix></IndexDocument>";

    fn with_rule(rule: &str) -> Result<Website, Error> {
        read(&format!("{INDEX}<RoutingRules><RoutingRule>{rule}</RoutingRule></RoutingRules>"))
    }

    #[test]
    fn a_website_reads_back() {
        for inner in [
            INDEX.to_owned(),
            format!("{INDEX}<ErrorDocument><Key>e/rror.html</Key></ErrorDocument>"),
            "<RedirectAllRequestsTo><HostName>a.example</HostName><Protocol>https</Protocol></RedirectAllRequestsTo>".to_owned(),
            format!("{INDEX}<RoutingRules><RoutingRule><Condition><HttpErrorCodeReturnedEquals>404</HttpErrorCodeReturnedEquals><KeyPrefixEquals>a/</KeyPrefixEquals></Condition><Redirect><HostName>h</HostName><HttpRedirectCode>302</HttpRedirectCode><Protocol>http</Protocol><ReplaceKeyPrefixWith>b/</ReplaceKeyPrefixWith></Redirect></RoutingRule><RoutingRule><Redirect><ReplaceKeyWith>c</ReplaceKeyWith></Redirect></RoutingRule></RoutingRules>"),
        ] {
            let website = read(&inner).unwrap();
            assert!(website.document("").contains(&inner), "{}", website.document(""));
            let json = serde_json::to_vec(&website).unwrap();
            assert_eq!(serde_json::from_slice::<Website>(&json).unwrap(), website);
        }
    }

    #[test]
    fn a_website_that_is_none_is_refused_as_recorded() {
        let argument = |seen: Result<Website, Error>| match seen {
            Err(Error::InvalidArgument { argument, value, reason }) => {
                (argument.into_owned(), value.unwrap_or_default(), reason.into_owned())
            }
            other => panic!("{other:?}"),
        };
        let expected = |name: &str, value: &str, reason: &str| {
            (name.to_owned(), value.to_owned(), reason.to_owned())
        };
        let suffix =
            |text: &str| read(&format!("<IndexDocument><Suffix>{text}</Suffix></IndexDocument>"));
        let malformed = "The IndexDocument Suffix is not well formed";
        assert_eq!(
            argument(suffix("/index.html")),
            expected("IndexDocument", "/index.html", malformed)
        );
        assert_eq!(argument(suffix("")), expected("IndexDocument", "", malformed));
        let both = read(&format!(
            "<RedirectAllRequestsTo><HostName>h</HostName></RedirectAllRequestsTo>{INDEX}"
        ));
        assert_eq!(
            argument(both),
            expected(
                "RedirectAllRequestsTo",
                "not null",
                "RedirectAllRequestsTo cannot be provided in conjunction with other Routing Rules."
            )
        );
        assert_eq!(
            argument(read(&format!("{INDEX}<ErrorDocument><Key></Key></ErrorDocument>"))),
            expected("ErrorDocument", "", "The ErrorDocument Key is not well formed")
        );
        assert_eq!(
            argument(read("")),
            expected(
                "IndexDocument",
                "null",
                "A value for IndexDocument Suffix must be provided if RedirectAllRequestsTo is empty"
            )
        );
        for (rule, reason) in [
            ("<Redirect><Protocol>ftp</Protocol></Redirect>", "Invalid protocol"),
            (
                "<Redirect><ReplaceKeyPrefixWith>a</ReplaceKeyPrefixWith><ReplaceKeyWith>b</ReplaceKeyWith></Redirect>",
                "You can only define",
            ),
            ("<Condition/><Redirect/>", "Condition cannot be empty."),
            (
                "<Condition><HttpErrorCodeReturnedEquals>200</HttpErrorCodeReturnedEquals></Condition><Redirect/>",
                "The provided HTTP error code (200)",
            ),
            (
                "<Condition><HttpErrorCodeReturnedEquals>418</HttpErrorCodeReturnedEquals></Condition><Redirect/>",
                "The provided HTTP error code (418)",
            ),
            (
                "<Condition><HttpErrorCodeReturnedEquals>506</HttpErrorCodeReturnedEquals></Condition><Redirect/>",
                "The provided HTTP error code (506)",
            ),
            (
                "<Redirect><HttpRedirectCode>300</HttpRedirectCode></Redirect>",
                "The provided HTTP redirect code (300)",
            ),
            (
                "<Redirect><HttpRedirectCode>306</HttpRedirectCode></Redirect>",
                "The provided HTTP redirect code (306)",
            ),
            (
                "<Redirect><HttpRedirectCode>309</HttpRedirectCode></Redirect>",
                "The provided HTTP redirect code (309)",
            ),
        ] {
            let seen = with_rule(rule).unwrap_err();
            assert!(
                matches!(seen, Error::InvalidRequest { .. })
                    && seen.to_string().starts_with(reason),
                "{seen}"
            );
        }
        for inner in [
            "<RedirectAllRequestsTo/>".to_owned(),
            format!("{INDEX}<ErrorDocument/>"),
            format!("{INDEX}<RoutingRules/>"),
            format!("{INDEX}<RoutingRules><RoutingRule/></RoutingRules>"),
            format!("{INDEX}{INDEX}"),
            format!("{INDEX}<Other/>"),
            INDEX.replace("index.html", "<Suffix>index.html</Suffix>"),
            "<RedirectAllRequestsTo><HostName>a</HostName><HostName>b</HostName></RedirectAllRequestsTo>".to_owned(),
        ] {
            assert_eq!(read(&inner), Err(Error::MalformedXml), "{inner}");
        }
        for rule in [
            "<Redirect/>",
            "<Redirect><HostName/></Redirect>",
            "<Redirect><HostName>a</HostName><HostName>b</HostName></Redirect>",
            "<Redirect><HostName>a</HostName></Redirect><Redirect><HostName>b</HostName></Redirect>",
            "<Redirect><HostName>a</HostName><Other/></Redirect>",
            "<Redirect><HttpRedirectCode>3xx</HttpRedirectCode></Redirect>",
            "<Condition><HttpErrorCodeReturnedEquals>4xx</HttpErrorCodeReturnedEquals></Condition><Redirect><HostName>a</HostName></Redirect>",
            "<Condition><KeyPrefixEquals>a</KeyPrefixEquals><KeyPrefixEquals>b</KeyPrefixEquals></Condition><Redirect><HostName>a</HostName></Redirect>",
        ] {
            assert_eq!(with_rule(rule), Err(Error::MalformedXml), "{rule}");
        }
    }
}
