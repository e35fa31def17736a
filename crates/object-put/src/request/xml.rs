//! XML of request and reply bodies: a reader with limits, and a writer that escapes.

use std::fmt::{Display, Write as _};

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::error::Error;

/// The most bytes of an XML body.
pub const XML_BYTES_MAX: usize = 1024 * 1024;
/// The most levels of elements in each other.
const DEPTH_MAX: usize = 32;
/// The most elements of a body: `DeleteObjects` with 1,000 keys needs some 8,000.
const ELEMENTS_MAX: usize = 40_000;
/// The elements of all documents that hold others; every other one holds a text.
const HOLDERS: [&str; 36] = [
    "AbortIncompleteMultipartUpload",
    "AccessControlList",
    "And",
    "ApplyServerSideEncryptionByDefault",
    "BlockedEncryptionTypes",
    "Bucket",
    "CORSRule",
    "CloudFunctionConfiguration",
    "Condition",
    "DefaultRetention",
    "ErrorDocument",
    "EventBridgeConfiguration",
    "Expiration",
    "Filter",
    "GlacierJobParameters",
    "Grant",
    "Grantee",
    "IndexDocument",
    "Location",
    "LoggingEnabled",
    "NoncurrentVersionExpiration",
    "NoncurrentVersionTransition",
    "Object",
    "Owner",
    "Part",
    "QueueConfiguration",
    "Redirect",
    "RedirectAllRequestsTo",
    "RoutingRule",
    "RoutingRules",
    "Rule",
    "Tag",
    "TagSet",
    "Tags",
    "TopicConfiguration",
    "Transition",
];

/// An element of a request body. Names are local names: prefixes and namespaces say nothing here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Element {
    /// Its local name.
    pub name: String,
    /// Local names and values of its attributes.
    pub attributes: Vec<(String, String)>,
    /// Its own text, without that of its children.
    pub text: String,
    /// Its children, in order.
    pub children: Vec<Self>,
}

impl Element {
    /// Reads a document whose root is called `root`.
    ///
    /// # Errors
    /// [`Error::MissingRequestBody`] for nothing at all; [`Error::MalformedXml`] for what is no XML, has another root, a NUL, or more than
    /// 1 MiB, 32 levels or 40,000 elements; for document type declarations and entities of their own, which a request has no use for.
    pub fn parse(bytes: &[u8], root: &str) -> Result<Self, Error> {
        Self::parse_within(bytes, root, XML_BYTES_MAX, ELEMENTS_MAX)
    }

    /// As [`Element::parse`], of at most so many bytes and elements.
    ///
    /// # Errors
    /// As [`Element::parse`].
    pub fn parse_within(
        bytes: &[u8],
        root: &str,
        bytes_max: usize,
        elements_max: usize,
    ) -> Result<Self, Error> {
        if bytes.is_empty() {
            return Err(Error::MissingRequestBody);
        }
        let document = Self::document(bytes, bytes_max, elements_max);
        document.filter(|element| element.name == root).ok_or(Error::MalformedXml)
    }

    fn document(bytes: &[u8], bytes_max: usize, elements_max: usize) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        // No version of XML has a place for NUL, not even as a reference: it could not be shown again.
        if text.len() > bytes_max || text.contains('\0') {
            return None;
        }
        // A byte order mark at the beginning is the reader's to pass over.
        let mut reader = Reader::from_str(text);
        let mut open: Vec<Self> = Vec::new();
        let mut done: Option<Self> = None;
        let mut count = 0;
        let mut is_first = true;
        loop {
            let closed = match reader.read_event().ok()? {
                Event::Start(start) => {
                    open.push(Self::of(&start)?);
                    count += 1;
                    None
                }
                Event::Empty(start) => {
                    count += 1;
                    Some(Self::of(&start)?)
                }
                Event::End(_) => Some(open.pop()?),
                Event::Text(text) => {
                    push_text(&mut open, &text.xml10_content())?;
                    None
                }
                // Beside the root there may be blanks, but no section.
                Event::CData(_) if open.is_empty() => return None,
                Event::CData(text) => {
                    push_text(&mut open, &text.xml10_content())?;
                    None
                }
                Event::GeneralRef(reference) => {
                    let character = match reference.resolve_char_ref().ok()? {
                        Some(character) => character,
                        None => predefined(&reference.xml10_content())?,
                    };
                    push_text(&mut open, character.encode_utf8(&mut [0; 4]))?;
                    None
                }
                Event::DocType(_) => return None,
                Event::Decl(_) if !is_first => return None,
                Event::Eof => break,
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) => None,
            };
            is_first = false;
            if open.len() > DEPTH_MAX || count > elements_max {
                return None;
            }
            match (closed, open.last_mut()) {
                (Some(element), Some(parent)) => parent.children.push(element),
                (Some(element), None) if done.is_none() => done = Some(element),
                (Some(_), None) => return None,
                (None, _) => {}
            }
        }
        done.filter(|_| open.is_empty())
    }

    fn of(start: &BytesStart<'_>) -> Option<Self> {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.ok()?;
            let name = local(attribute.key.local_name().as_ref())?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
            Some((name, value.into_owned()))
        });
        Some(Self {
            name: local(start.local_name().as_ref())?,
            attributes: attributes.collect::<Option<_>>()?,
            ..Self::default()
        })
    }

    /// The first child with this name.
    #[must_use]
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All children with this name.
    pub fn all<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Checks that its children are these, with blanks alone between them: each of `once` one time at most, those of `often` as often as they
    /// like, and children of their own only in those that hold some. What is passed over may be what was to be spared, or all that was meant.
    ///
    /// # Errors
    /// [`Error::MalformedXml`].
    pub fn has_only(&self, once: &[&str], often: &[&str]) -> Result<(), Error> {
        let fits = |child: &Self| {
            let is_known = often.contains(&&*child.name)
                || (once.contains(&&*child.name) && self.all(&child.name).count() == 1);
            is_known && (child.children.is_empty() || HOLDERS.contains(&&*child.name))
        };
        match self.text.trim().is_empty() && self.children.iter().all(fits) {
            true => Ok(()),
            false => Err(Error::MalformedXml),
        }
    }

    /// The text of the first child with this name, without outer blanks.
    #[must_use]
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.trim())
    }

    /// The text of the first child with this name.
    ///
    /// # Errors
    /// [`Error::MalformedXml`] if there is none.
    pub fn required(&self, name: &str) -> Result<&str, Error> {
        self.text_of(name).ok_or(Error::MalformedXml)
    }

    /// The value of an attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

fn local(name: impl AsRef<[u8]>) -> Option<String> {
    String::from_utf8(name.as_ref().to_vec()).ok()
}

fn push_text(open: &mut [Element], text: &str) -> Option<()> {
    match open.last_mut() {
        Some(element) => element.text.push_str(text),
        // Blanks may stand beside the root; nothing else may.
        None if text.trim().is_empty() => {}
        None => return None,
    }
    Some(())
}

fn predefined(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "apos" => '\'',
        "quot" => '"',
        _ => return None,
    })
}

/// Writes a reply body.
#[derive(Debug)]
pub struct XmlWriter(String);

impl XmlWriter {
    /// A document with this root, whose content `fill` writes; no namespace if `namespace` is empty.
    #[must_use]
    pub fn document(root: &str, namespace: &str, fill: impl FnOnce(&mut Self)) -> String {
        let mut writer = Self(String::with_capacity(512));
        writer.0.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<");
        writer.0.push_str(root);
        if !namespace.is_empty() {
            writer.attribute("xmlns", namespace);
        }
        writer.0.push('>');
        let start = writer.0.len();
        fill(&mut writer);
        if writer.0.len() == start {
            // As the real service writes one without content: `<LocationConstraint xmlns="..."/>`.
            writer.0.insert(start - 1, '/');
            return writer.0;
        }
        writer.close(root);
        writer.0
    }

    /// Elements without a root, to be put into a document later.
    #[must_use]
    pub const fn fragment() -> Self {
        Self(String::new())
    }

    /// The text that was written.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }

    /// Elements that [`XmlWriter::fragment`] wrote.
    pub fn raw(&mut self, fragment: &str) {
        self.0.push_str(fragment);
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.0.push(' ');
        self.0.push_str(name);
        self.0.push_str("=\"");
        escape(value, &mut self.0);
        self.0.push('"');
    }

    fn close(&mut self, name: &str) {
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }

    /// An element whose content `fill` writes.
    pub fn element(&mut self, name: &str, fill: impl FnOnce(&mut Self)) {
        self.with_attributes(name, &[], fill);
    }

    /// An element with attributes, whose content `fill` writes.
    pub fn with_attributes(
        &mut self,
        name: &str,
        attributes: &[(&str, &str)],
        fill: impl FnOnce(&mut Self),
    ) {
        self.0.push('<');
        self.0.push_str(name);
        for (name, value) in attributes {
            self.attribute(name, value);
        }
        self.0.push('>');
        fill(self);
        self.close(name);
    }

    /// An element that holds a text.
    pub fn text(&mut self, name: &str, text: impl Display) {
        self.element(name, |writer| {
            // Formatting into a string fails for no Display that keeps its contract.
            let _ = write!(Escaped(&mut writer.0), "{text}");
        });
    }

    /// An element that holds a text, if there is one.
    pub fn text_if(&mut self, name: &str, text: Option<impl Display>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }
}

struct Escaped<'s>(&'s mut String);

impl std::fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        escape(text, self.0);
        Ok(())
    }
}

/// Appends `text` as content of an element or an attribute. Control characters become references, as the real service
/// writes them, although XML 1.0 has no place for most of them: clients ask for `encoding-type=url` where they matter.
pub fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str("&#x");
                out.push_str(&format!("{:x}", u32::from(character)));
                out.push(';');
            }
            _ => out.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let text = XmlWriter::document("A", "http://n/", |writer| {
            writer.with_attributes("B", &[("x", "1<2")], |writer| writer.text("C", "a&b \"\n"));
            writer.text_if("D", None::<&str>);
        });
        let element = Element::parse(text.as_bytes(), "A").unwrap();
        let b = element.child("B").unwrap();
        assert_eq!(b.attribute("x"), Some("1<2"));
        assert_eq!(b.child("C").unwrap().text, "a&b \"\n");
        assert_eq!(element.text_of("D"), None);
    }

    #[test]
    fn prefixes_and_namespaces_say_nothing() {
        let text = "\u{feff}<?xml version=\"1.0\"?><!-- c --><p:A xmlns:p=\"n\"><p:B x:type=\"T\"/> <![CDATA[<]]></p:A>\n<!-- d -->";
        let element = Element::parse(text.as_bytes(), "A").unwrap();
        assert_eq!(element.child("B").unwrap().attribute("type"), Some("T"));
        assert_eq!(element.text.trim(), "<");
    }

    #[test]
    fn what_is_no_document_is_refused() {
        let deep = format!("{}{}", "<A>".repeat(40), "</A>".repeat(40));
        let long = format!("<A>{}</A>", "x".repeat(XML_BYTES_MAX));
        for text in [
            " ",
            "A",
            "<A>",
            "<A></B>",
            "<A/><A/>",
            "<B/>",
            "<A/>x",
            "<A>&own;</A>",
            "<A/><![CDATA[ ]]>",
            "<A/><?xml version=\"1.0\"?>",
            " <?xml version=\"1.0\"?><A/>",
            "\u{feff}\u{feff}<A/>",
            "<A b=\"1\" b=\"2\"/>",
            "<A>\0</A>",
            "<A>&#0;</A>",
            "<!DOCTYPE A [<!ENTITY x \"y\">]><A>&x;</A>",
            &deep,
            &long,
        ] {
            let short = text.get(..60).unwrap_or(text);
            assert_eq!(Element::parse(text.as_bytes(), "A"), Err(Error::MalformedXml), "{short}");
        }
        assert_eq!(Element::parse(b"", "A"), Err(Error::MissingRequestBody));
    }

    #[test]
    fn nothing_of_an_element_is_passed_over() {
        let check = |inner: &str| {
            let text = format!("<A>{inner}</A>");
            Element::parse(text.as_bytes(), "A").unwrap().has_only(&["Key", "Filter"], &["Tag"])
        };
        for inner in [
            "",
            " <Key>k</Key>\n<!-- c --><Tag/><Tag><Key/></Tag>",
            "<Key><![CDATA[k]]></Key>",
            "<Filter><Key/></Filter>",
        ] {
            assert_eq!(check(inner), Ok(()), "{inner}");
        }
        for inner in [
            "<Other/>",
            "<Key/><Key/>",
            "<Filter/><Filter/>",
            "<Key>k<Tag/></Key>",
            "<Key><Key>k</Key></Key>",
            "k<Key/>",
            "<Key/><![CDATA[k]]>",
        ] {
            assert_eq!(check(inner), Err(Error::MalformedXml), "{inner}");
        }
    }
}
