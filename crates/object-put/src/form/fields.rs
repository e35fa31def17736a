//! The fields of a form: those before the file, and the head of the upload that they stand for.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::error::Error;
use crate::form::framing::{PartHead, Piece};
use crate::operation::put_headers::HEADERS;
use crate::request::dialect::Dialect;
use crate::store::key::Key;
use crate::store::tagging::{TagTarget, Tags};

/// The most bytes of a form before its file.
pub const BYTES_BEFORE_FILE_MAX: usize = 20 * 1024;
/// The field that is the object.
const FILE: &str = "file";
/// Stands for the name of the file.
const FILE_NAME: &str = "${filename}";
/// The name of a file that was sent without one.
const NO_FILE_NAME: &str = "file";

/// The fields of a form that stand before its file, as they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form {
    fields: Vec<(String, String)>,
}

/// A form whose fields arrive.
#[derive(Debug, Default)]
pub struct FormReader {
    form: Form,
    open: Option<(String, Vec<u8>)>,
}

/// A field that a form must have.
#[must_use]
pub fn missing(name: &str) -> Error {
    Error::argument(
        name.to_owned(),
        Some(""),
        format!(
            "Bucket POST must contain a field named '{name}'.  If it is specified, please check the order of the fields."
        ),
    )
}

/// The refusal of a form with another number of files than one.
#[must_use]
pub fn not_one_file(count: usize) -> Error {
    Error::argument(
        FILE,
        Some(&count.to_string()),
        "POST requires exactly one file upload per request.",
    )
}

/// Tells whether a part is the file.
#[must_use]
pub fn is_file(head: &PartHead) -> bool {
    head.name.eq_ignore_ascii_case(FILE)
}

impl FormReader {
    /// Takes a piece, the last of `taken` bytes. Gives the form when its file begins.
    ///
    /// # Errors
    /// [`Error::FormTooLong`]; [`Error::MalformedForm`] for a value that is no UTF-8; `InvalidArgument` for a field that is there twice, and
    /// for a form without a file.
    pub fn take(&mut self, piece: Piece, taken: usize) -> Result<Option<Form>, Error> {
        if taken > BYTES_BEFORE_FILE_MAX {
            return Err(Error::FormTooLong { most: BYTES_BEFORE_FILE_MAX });
        }
        match piece {
            Piece::Part(head) if is_file(&head) => {
                return std::mem::take(&mut self.form).of_file(head.file_name.as_deref()).map(Some);
            }
            Piece::Part(head) => {
                if self.form.get(&head.name).is_some() {
                    let reason = "A form has each of its fields once.";
                    return Err(Error::argument(head.name, None, reason));
                }
                self.open = Some((head.name, Vec::new()));
            }
            Piece::Data(bytes) => {
                if let Some((_, value)) = &mut self.open {
                    value.extend_from_slice(&bytes);
                }
            }
            Piece::PartEnd => {
                if let Some((name, value)) = self.open.take() {
                    let value = String::from_utf8(value).map_err(|_| Error::MalformedForm)?;
                    self.form.fields.push((name, value));
                }
            }
            Piece::End => return Err(not_one_file(0)),
        }
        Ok(None)
    }
}

impl Form {
    /// A form with these fields.
    #[must_use]
    pub const fn new(fields: Vec<(String, String)>) -> Self {
        Self { fields }
    }

    /// The same with the name of its file in the place of `${filename}`: what follows the last slash of either kind.
    fn of_file(mut self, file_name: Option<&str>) -> Result<Self, Error> {
        let name = file_name.unwrap_or(NO_FILE_NAME);
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        for (own, value) in &mut self.fields {
            if value.contains(FILE_NAME) && !own.eq_ignore_ascii_case("policy") {
                // Each place adds a name, and a short value may hold many.
                let places = value.matches(FILE_NAME).count();
                if places.saturating_mul(name.len()) > BYTES_BEFORE_FILE_MAX {
                    return Err(Error::FormTooLong { most: BYTES_BEFORE_FILE_MAX });
                }
                *value = value.replace(FILE_NAME, name);
            }
        }
        Ok(self)
    }

    /// The value of the field with this name, in letters of either case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The value of a field of signatures: a name after the dialect's prefix.
    #[must_use]
    pub fn of_signature(&self, dialect: Dialect, name: &str) -> Option<&str> {
        self.get(&[dialect.names().header_prefix, name].concat())
    }

    /// All fields.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The key of the object.
    ///
    /// # Errors
    /// `InvalidArgument` without one; those of [`Key::from_path`].
    pub fn key(&self) -> Result<Key, Error> {
        let key = self.get("key").ok_or_else(|| missing("key"))?;
        if key.is_empty() {
            let reason = "User key must have a length greater than 0.";
            return Err(Error::argument("key", Some(""), reason));
        }
        // As in a path: none that leads out of its bucket is made.
        Key::from_path(&utf8_percent_encode(key, NON_ALPHANUMERIC).to_string())
    }

    /// The head of the upload that the form stands for: names in lower case, and values.
    ///
    /// # Errors
    /// Those of [`Tags::from_xml`]; `InvalidArgument` for what is no header.
    pub fn head(&self, dialect: Dialect) -> Result<Vec<(String, String)>, Error> {
        let own = |name: &str| dialect.header(name).into_owned();
        let mut head = Vec::new();
        for (name, value) in self.iter() {
            let name = name.to_ascii_lowercase();
            match name.as_str() {
                "acl" => head.push((own("x-store-acl"), value.to_owned())),
                "tagging" => {
                    let tags = Tags::from_xml(value.as_bytes(), TagTarget::Object)?;
                    head.push((own("x-store-tagging"), encoded(&tags)));
                }
                _ if is_header(&name, dialect) => head.push((name, value.trim().to_owned())),
                _ => {}
            }
        }
        let is_text = |value: &str| !value.chars().any(|character| character.is_ascii_control());
        for (name, value) in &head {
            let is_name =
                |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            if !name.bytes().all(is_name) || !is_text(value) {
                let reason = "The field is no header that an object could have.";
                return Err(Error::argument(name.clone(), None, reason));
            }
        }
        Ok(head)
    }
}

/// Tells whether a field, in lower case, is a header of the object or of its upload. The rest of the service's own is about signatures, or
/// about what no form does.
fn is_header(name: &str, dialect: Dialect) -> bool {
    let prefix = |start: &str| name.starts_with(&*dialect.header(start));
    let mut rows = HEADERS.iter().filter(|row| row.name != "content-length");
    rows.any(|row| dialect.is_header(name, row.name))
        || prefix("x-store-meta-")
        || prefix("x-store-checksum-")
}

/// Tags as a header carries them.
fn encoded(tags: &Tags) -> String {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let pairs: Vec<_> =
        tags.0.iter().map(|(key, value)| format!("{}={}", encode(key), encode(value))).collect();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(fields: &[(&str, &str)]) -> Form {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Form::new(fields.iter().map(own).collect())
    }

    fn read(fields: &[(&str, &str)], file: Option<Option<&str>>) -> Result<Option<Form>, Error> {
        let mut reader = FormReader::default();
        for (name, value) in fields {
            let head = PartHead { name: (*name).to_owned(), file_name: None };
            reader.take(Piece::Part(head), 0)?;
            reader.take(Piece::Data(value.as_bytes().to_vec().into()), 0)?;
            reader.take(Piece::PartEnd, 0)?;
        }
        match file {
            Some(file_name) => {
                let file_name = file_name.map(str::to_owned);
                let head = PartHead { name: "File".to_owned(), file_name };
                reader.take(Piece::Part(head), 0)
            }
            None => reader.take(Piece::End, 0),
        }
    }

    #[test]
    fn the_name_of_the_file_stands_where_the_form_says() {
        for (file, key) in [
            (Some("C:\\photos\\a.png"), "up/a.png"),
            (Some("b/c.txt"), "up/c.txt"),
            (Some(""), "up/"),
            (None, "up/file"),
        ] {
            let form = read(&[("Key", "up/${filename}"), ("policy", "${filename}")], Some(file));
            let form = form.unwrap().unwrap();
            assert_eq!(form.key().unwrap().as_str(), key);
            assert_eq!(form.get("policy"), Some("${filename}"));
        }
    }

    #[test]
    fn a_form_has_a_key_one_file_and_each_field_once() {
        assert_eq!(form(&[]).key(), Err(missing("key")));
        assert!(form(&[("key", "")]).key().is_err());
        assert_eq!(form(&[("key", "../a")]).key(), Err(Error::InvalidUri));
        assert_eq!(form(&[("KEY", "a+b %41")]).key().unwrap().as_str(), "a+b %41");
        assert_eq!(read(&[("key", "a")], None), Err(not_one_file(0)));
        assert!(read(&[("key", "a"), ("Key", "b")], Some(None)).is_err());
        let mut reader = FormReader::default();
        let long = reader.take(Piece::PartEnd, BYTES_BEFORE_FILE_MAX + 1);
        assert_eq!(long, Err(Error::FormTooLong { most: BYTES_BEFORE_FILE_MAX }));
        let bomb = "${filename}".repeat(1_000);
        assert!(read(&[("key", &bomb)], Some(Some(&"a".repeat(1_000)))).is_err());
    }

    #[test]
    fn the_head_of_an_upload_has_what_a_form_can_say_of_it() {
        let all = form(&[
            ("acl", "private"),
            ("Content-Type", "text/plain"),
            ("x-amz-meta-A", " b "),
            (
                "tagging",
                "<Tagging><TagSet><Tag><Key>a b</Key><Value>1=2</Value></Tag></TagSet></Tagging>",
            ),
            ("x-amz-signature", "1"),
            ("x-amz-copy-source", "/b/k"),
            ("content-length", "1"),
            ("success_action_status", "200"),
            ("x-amz-checksum-crc32", "AAAAAA=="),
        ]);
        let head = all.head(Dialect::Amz).unwrap();
        let head: Vec<_> = head.iter().map(|(name, value)| (&**name, &**value)).collect();
        let expected = [
            ("x-amz-acl", "private"),
            ("content-type", "text/plain"),
            ("x-amz-meta-a", "b"),
            ("x-amz-tagging", "a%20b=1%3D2"),
            ("x-amz-checksum-crc32", "AAAAAA=="),
        ];
        assert_eq!(head, expected);
        for wrong in [("x-amz-meta-a", "b\r\nc: d"), ("x-amz-meta-a b", "c"), ("tagging", "a=b")] {
            assert!(form(&[wrong]).head(Dialect::Amz).is_err(), "{wrong:?}");
        }
    }
}
