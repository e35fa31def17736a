//! Cross-origin rules of a bucket: read, kept, shown, and what they let a page of another origin do.

use serde::{Deserialize, Serialize};
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::request::xml::{Element, XmlWriter};
use crate::store::bucket_setting;

/// The name under which the rules of a bucket are kept.
pub const CONFIG_NAME: &str = "cors";
/// The most rules of a bucket.
const RULES_MAX: usize = 100;
/// The most characters of a rule's id.
const ID_CHARACTERS_MAX: usize = 255;
/// The methods that a rule can allow.
const METHODS: [&str; 5] = ["GET", "PUT", "HEAD", "POST", "DELETE"];

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CorsRule {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    origins: Vec<String>,
    methods: Vec<String>,
    #[serde(default)]
    headers: Vec<String>,
    #[serde(default)]
    exposed: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_age_seconds: Option<i32>,
}

/// The rules of a bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cors(Vec<CorsRule>);

/// A request of a page of another origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorsRequest<'r> {
    /// The origin.
    pub origin: &'r str,
    /// The method of the request, or that of the one which a browser asks for.
    pub method: &'r str,
    /// The headers that a browser asks for, commas between; none for the request itself.
    pub headers: &'r str,
}

impl Cors {
    /// The rules of a `CORSConfiguration` document.
    ///
    /// # Errors
    /// `MalformedXml`; `InvalidRequest` for a method, a wildcard or an id that a rule cannot have.
    pub fn from_xml(body: &[u8]) -> Result<Self, Error> {
        let root = Element::parse(body, "CORSConfiguration")?;
        root.has_only(&[], &["CORSRule"])?;
        let rules = root.children.iter().map(CorsRule::of).collect::<Result<Vec<_>, _>>()?;
        if rules.is_empty() || rules.len() > RULES_MAX {
            return Err(Error::MalformedXml);
        }
        Ok(Self(rules))
    }

    /// The rules of a bucket, if it has any.
    ///
    /// # Errors
    /// As reads of the store; [`Error::Damaged`] for those that cannot be read.
    pub fn of_bucket(tx: &mut Tx<'_>, bucket: u64) -> Result<Option<Self>, Error> {
        let row = bucket_setting::read(tx, bucket, CONFIG_NAME)?;
        row.map(|bytes| serde_json::from_slice(&bytes).map_err(|_| Error::Damaged)).transpose()
    }

    /// The document again.
    #[must_use]
    pub fn document(&self, namespace: &str) -> String {
        XmlWriter::document("CORSConfiguration", namespace, |writer| {
            for rule in &self.0 {
                writer.element("CORSRule", |writer| rule.write(writer));
            }
        })
    }

    /// The headers of an answer to this request, by the first rule that allows it; `None` if none does.
    #[must_use]
    pub fn headers(&self, request: &CorsRequest<'_>) -> Option<Vec<(&'static str, String)>> {
        self.0.iter().find(|rule| rule.allows(request)).map(|rule| rule.answer(request))
    }
}

impl CorsRule {
    fn of(element: &Element) -> Result<Self, Error> {
        let lists = ["AllowedOrigin", "AllowedMethod", "AllowedHeader", "ExposeHeader"];
        element.has_only(&["ID", "MaxAgeSeconds"], &lists)?;
        let texts = |name: &'static str| -> Vec<String> {
            element.all(name).map(|child| child.text.trim().to_owned()).collect()
        };
        let rule = Self {
            id: element.text_of("ID").map(str::to_owned),
            origins: texts("AllowedOrigin"),
            methods: texts("AllowedMethod"),
            headers: texts("AllowedHeader"),
            exposed: texts("ExposeHeader"),
            max_age_seconds: match element.text_of("MaxAgeSeconds") {
                None => None,
                Some(text) => Some(text.parse().map_err(|_| Error::MalformedXml)?),
            },
        };
        let is_negative = rule.max_age_seconds.is_some_and(i32::is_negative);
        if rule.origins.is_empty() || rule.methods.is_empty() || is_negative {
            return Err(Error::MalformedXml);
        }
        if rule.id.as_ref().is_some_and(|id| id.chars().count() > ID_CHARACTERS_MAX) {
            return Err(Error::request("The ID of a CORS rule has at most 255 characters."));
        }
        if let Some(method) = rule.methods.iter().find(|own| !METHODS.contains(&own.as_str())) {
            return Err(Error::request(format!(
                "Found unsupported HTTP method in CORS config. Unsupported method is {method}"
            )));
        }
        for (name, values) in [("AllowedOrigin", &rule.origins), ("AllowedHeader", &rule.headers)] {
            if let Some(value) = values.iter().find(|value| value.matches('*').count() > 1) {
                return Err(Error::request(format!(
                    "{name} \"{value}\" can not have more than one wildcard."
                )));
            }
        }
        if let Some(value) = rule.exposed.iter().find(|value| value.contains('*')) {
            return Err(Error::request(format!(
                "ExposeHeader \"{value}\" contains wildcard. We currently do not support wildcard for ExposeHeader."
            )));
        }
        for (name, values) in [("AllowedHeader", &rule.headers), ("ExposeHeader", &rule.exposed)] {
            if let Some(value) = values.iter().find(|value| !is_header_name(value)) {
                let reason = format!("{name} \"{value}\" contains invalid character.");
                return Err(Error::request(reason));
            }
        }
        Ok(rule)
    }

    fn write(&self, writer: &mut XmlWriter) {
        writer.text_if("ID", self.id.as_ref());
        for (name, values) in [
            ("AllowedHeader", &self.headers),
            ("AllowedMethod", &self.methods),
            ("AllowedOrigin", &self.origins),
            ("ExposeHeader", &self.exposed),
        ] {
            for value in values {
                writer.text(name, value);
            }
        }
        writer.text_if("MaxAgeSeconds", self.max_age_seconds);
    }

    fn allows(&self, request: &CorsRequest<'_>) -> bool {
        let mut wanted = names(request.headers);
        // A question mark is no wildcard here.
        let fits = |pattern: &str, text: &str| match pattern.split_once('*') {
            None => pattern == text,
            Some((start, end)) => {
                text.len() >= start.len() + end.len()
                    && text.starts_with(start)
                    && text.ends_with(end)
            }
        };
        self.origins.iter().any(|origin| fits(origin, request.origin))
            && self.methods.iter().any(|method| method == request.method)
            && wanted.all(|name| {
                self.headers.iter().any(|header| fits(&header.to_ascii_lowercase(), &name))
            })
    }

    fn answer(&self, request: &CorsRequest<'_>) -> Vec<(&'static str, String)> {
        let is_any = self.origins.iter().any(|origin| origin == "*");
        let origin = if is_any { "*" } else { request.origin };
        let mut headers = vec![("access-control-allow-origin", origin.to_owned())];
        if !is_any {
            headers.push(("access-control-allow-credentials", "true".to_owned()));
        }
        headers.push(("access-control-allow-methods", self.methods.join(", ")));
        let wanted: Vec<_> = names(request.headers).collect();
        if !wanted.is_empty() {
            headers.push(("access-control-allow-headers", wanted.join(", ")));
        }
        if !self.exposed.is_empty() {
            headers.push(("access-control-expose-headers", self.exposed.join(", ")));
        }
        if let Some(seconds) = self.max_age_seconds {
            headers.push(("access-control-max-age", seconds.to_string()));
        }
        let vary = "Origin, Access-Control-Request-Headers, Access-Control-Request-Method";
        headers.push(("vary", vary.to_owned()));
        headers
    }
}

impl CorsRequest<'_> {
    /// Refuses a question that names what no request can have, whatever the rules are. One that names no method asks nothing yet.
    ///
    /// # Errors
    /// [`Error::InvalidPreflight`].
    pub fn check(&self) -> Result<(), Error> {
        if !self.method.is_empty() && !METHODS.contains(&self.method) {
            return Err(Self::names_no_method(self.method));
        }
        match self.headers.split(',').find(|name| !is_header_name(name.trim_matches(' '))) {
            None => Ok(()),
            Some(name) => Err(Error::InvalidPreflight {
                reason: format!(
                    "Access-Control-Request-Headers \"{name}\" contains invalid character."
                ),
            }),
        }
    }

    /// The refusal of a question whose method, `sent`, is none of those that rules know.
    #[must_use]
    pub fn names_no_method(sent: &str) -> Error {
        Error::InvalidPreflight { reason: format!("Invalid Access-Control-Request-Method: {sent}") }
    }
}

/// Tells whether every character of `name` may stand in the name of a header; nothing may be there too.
fn is_header_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    name.bytes().all(is_token)
}

/// The names of headers in a list, in lower case.
fn names(list: &str) -> impl Iterator<Item = String> {
    let names = list.split(',').map(|name| name.trim().to_ascii_lowercase());
    names.filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(inner: &str) -> Result<Cors, Error> {
        Cors::from_xml(format!("<CORSConfiguration>{inner}</CORSConfiguration>").as_bytes())
    }

    fn rule(origin: &str, method: &str, more: &str) -> String {
        format!(
            "<CORSRule><AllowedOrigin>{origin}</AllowedOrigin><AllowedMethod>{method}</AllowedMethod>{more}</CORSRule>"
        )
    }

    #[test]
    fn a_question_names_a_method_of_rules_and_headers_that_can_be() {
        fn seen(method: &str, headers: &str) -> Result<(), String> {
            let request = CorsRequest { origin: "http://a", method, headers };
            request.check().map_err(|error| error.to_string())
        }
        for headers in ["", "x-one", "X-One, x-two", "a,,b"] {
            assert_eq!(seen("GET", headers), Ok(()), "{headers}");
        }
        for method in ["get", "PATCH", "OPTIONS", "GET, PUT"] {
            let reason = format!("Invalid Access-Control-Request-Method: {method}");
            assert_eq!(seen(method, "a b"), Err(reason));
        }
        for name in ["a b", "x:y", "x(y)", " a/b", "x[y]", "x=y", "x\"y", "é", "a@b", "a\tb"] {
            let reason =
                format!("Access-Control-Request-Headers \"{name}\" contains invalid character.");
            assert_eq!(seen("PUT", &format!("x-one,{name}")), Err(reason));
        }
    }

    #[test]
    fn a_rule_names_headers_that_can_be() {
        for name in ["AllowedHeader", "ExposeHeader"] {
            let of = |value: &str| rules(&rule("*", "GET", &format!("<{name}>{value}</{name}>")));
            assert!(of("x-one").is_ok());
            for value in ["X:Y", "a b", "x/y"] {
                let reason = format!("{name} \"{value}\" contains invalid character.");
                assert_eq!(of(value), Err(Error::request(reason)));
            }
        }
        let any = "<ExposeHeader>x-*</ExposeHeader>";
        let reason = "ExposeHeader \"x-*\" contains wildcard. We currently do not support wildcard for ExposeHeader.";
        assert_eq!(rules(&rule("*", "GET", any)), Err(Error::request(reason)));
    }

    #[test]
    fn the_first_rule_that_fits_answers() {
        let cors = rules(
            &[
                rule(
                    "http://a.example",
                    "GET",
                    "<ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>9</MaxAgeSeconds>",
                ),
                rule("http://*.b.example", "PUT", "<AllowedHeader>x-*</AllowedHeader>"),
                rule("*", "HEAD", ""),
            ]
            .concat(),
        )
        .unwrap();
        let of = |origin, method, headers| {
            let found = cors.headers(&CorsRequest { origin, method, headers })?;
            Some(
                found
                    .into_iter()
                    .map(|(name, value)| format!("{name}: {value}"))
                    .collect::<Vec<_>>(),
            )
        };
        let first = of("http://a.example", "GET", "").unwrap();
        assert!(first.contains(&"access-control-allow-origin: http://a.example".to_owned()));
        assert!(first.contains(&"access-control-expose-headers: ETag".to_owned()));
        assert!(first.contains(&"access-control-max-age: 9".to_owned()));
        let second = of("http://x.b.example", "PUT", "X-One,x-two").unwrap();
        assert!(second.contains(&"access-control-allow-headers: x-one, x-two".to_owned()));
        let any = of("http://whoever", "HEAD", "").unwrap();
        assert_eq!(any[0], "access-control-allow-origin: *");
        assert!(!any.iter().any(|header| header.contains("credentials")));
        for (origin, method, headers) in [
            ("http://a.example", "PUT", ""),
            ("http://A.example", "GET", ""),
            ("http://a.example.org", "GET", ""),
            ("http://b.example", "PUT", ""),
            ("http://x.b.example", "PUT", "other"),
            ("http://a.example", "GET", "x-one"),
            ("http://whoever", "head", ""),
        ] {
            assert_eq!(of(origin, method, headers), None, "{origin} {method} {headers}");
        }
    }

    #[test]
    fn rules_that_none_can_be_are_refused() {
        let malformed = Err(Error::MalformedXml);
        assert_eq!(rules(""), malformed);
        assert_eq!(rules("<Other/>"), malformed);
        assert_eq!(rules("<CORSRule/>"), malformed);
        assert_eq!(rules("<CORSRule><AllowedOrigin>*</AllowedOrigin></CORSRule>"), malformed);
        assert_eq!(rules("<CORSRule><AllowedMethod>GET</AllowedMethod></CORSRule>"), malformed);
        assert_eq!(rules(&rule("*", "GET", "<MaxAgeSeconds>x</MaxAgeSeconds>")), malformed);
        assert_eq!(rules(&rule("*", "GET", "<MaxAgeSeconds>-1</MaxAgeSeconds>")), malformed);
        assert_eq!(rules(&(rule("*", "GET", "") + "x")), malformed);
        assert_eq!(rules(&rule("*", "GET", "").repeat(101)), malformed);
        for wrong in [
            rule("*", "MYMETHOD", ""),
            rule("*", "get", ""),
            rule("*", "", ""),
            rule("*", "OPTIONS", ""),
            rule("http://*.*", "GET", ""),
            rule("*", "GET", "<AllowedHeader>*-*</AllowedHeader>"),
            rule("*", "GET", "<ExposeHeader>x-*</ExposeHeader>"),
            rule("*", "GET", &format!("<ID>{}</ID>", "i".repeat(256))),
        ] {
            assert!(matches!(rules(&wrong), Err(Error::InvalidRequest { .. })), "{wrong}");
        }
    }

    #[test]
    fn a_rule_for_an_empty_origin_is_kept_and_allows_none() {
        let kept = rules(&rule("", "GET", "")).unwrap();
        assert!(kept.document("n").contains("<AllowedOrigin></AllowedOrigin>"));
        let request = CorsRequest { origin: "http://a.example", method: "GET", headers: "" };
        assert_eq!(kept.headers(&request), None);
    }

    #[test]
    fn a_document_reads_back() {
        let cors = rules(&rule(
            "*",
            "GET",
            "<ID>a</ID><AllowedHeader>*</AllowedHeader><MaxAgeSeconds>1</MaxAgeSeconds>",
        ))
        .unwrap();
        assert_eq!(Cors::from_xml(cors.document("n").as_bytes()), Ok(cors));
    }
}
