//! The document of a completion: the parts that the object is to have.

use sha2::{Digest, Sha256};

use crate::body::checksum::{ALGORITHMS, AlgorithmRow, Checksum};
use crate::error::Error;
use crate::operation::multipart::part_number;
use crate::request::etag;
use crate::request::xml::Element;
use crate::store::part_list::PARTS_MAX;

/// The most bytes of the document: 10,000 parts with the longest checksums are 1.7 MB.
pub const DOCUMENT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The most elements of the document: of each part itself, its number, its entity tag and a checksum.
const ELEMENTS_MAX: usize = 60_000;

/// A part as the document names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPart {
    /// Its number.
    pub number: u32,
    /// Its entity tag, without quotes.
    pub etag: String,
    /// The checksum that it is given.
    pub checksum: Option<Checksum>,
}

/// The parts that a document names, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartDocument(pub Vec<NamedPart>);

impl PartDocument {
    /// Reads a `CompleteMultipartUpload` document.
    ///
    /// # Errors
    /// `MalformedXml`, for more than 10,000 parts too; `InvalidRequest` for none; `InvalidArgument` for a number that no part has, for a
    /// checksum that is none, and for two of one part.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let root = "CompleteMultipartUpload";
        let document = match Element::parse_within(bytes, root, DOCUMENT_BYTES_MAX, ELEMENTS_MAX) {
            Err(Error::MissingRequestBody) => Err(Error::MalformedXml),
            read => read,
        }?;
        document.has_only(&[], &["Part"])?;
        let checksums: Vec<_> =
            ALGORITHMS.iter().map(|row| format!("Checksum{}", row.name)).collect();
        let names: Vec<_> = ["PartNumber", "ETag"]
            .into_iter()
            .chain(checksums.iter().map(String::as_str))
            .collect();
        let mut parts = Vec::new();
        for element in &document.children {
            if parts.len() >= usize::try_from(PARTS_MAX).unwrap_or(usize::MAX) {
                return Err(Error::MalformedXml);
            }
            element.has_only(&names, &[])?;
            parts.push(named_part(element)?);
        }
        if parts.is_empty() {
            return Err(Error::request("You must specify at least one part"));
        }
        Ok(Self(parts))
    }

    /// Checks that the numbers of the parts ascend.
    ///
    /// # Errors
    /// `InvalidPartOrder`.
    pub fn check_order(&self, upload: &str) -> Result<(), Error> {
        let numbers = self.0.iter().map(|part| part.number);
        match numbers.is_sorted_by(|one, next| one < next) {
            true => Ok(()),
            false => Err(Error::InvalidPartOrder { upload: upload.to_owned() }),
        }
    }

    /// Checks that the numbers of the parts are all from 1 on, as those of an object in a directory bucket are.
    ///
    /// # Errors
    /// `InvalidPartOrder`.
    pub fn check_without_gaps(&self, upload: &str) -> Result<(), Error> {
        match self.0.iter().zip(1..).all(|(part, number)| part.number == number) {
            true => Ok(()),
            false => Err(Error::InvalidPartOrder { upload: upload.to_owned() }),
        }
    }

    /// A digest of what it names, by which it is known again.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        for part in &self.0 {
            digest.update(part.number.to_be_bytes());
            digest.update(part.etag.len().to_be_bytes());
            digest.update(&part.etag);
        }
        digest.finalize().into()
    }
}

fn named_part(element: &Element) -> Result<NamedPart, Error> {
    let number = element.required("PartNumber")?;
    // What is no number at all does not fit the schema.
    if number.parse::<i64>().map_err(|_| Error::MalformedXml)? < 1 {
        return Err(Error::argument("PartNumber", Some(number), "PartNumber must be >= 1"));
    }
    Ok(NamedPart {
        number: part_number(Some(number))?,
        etag: etag::bare(element.required("ETag")?).to_owned(),
        checksum: named_checksum(element)?,
    })
}

/// The checksum of a part: one at the most, whose value has the form of its algorithm's.
fn named_checksum(element: &Element) -> Result<Option<Checksum>, Error> {
    let of_row = |row: &'static AlgorithmRow| {
        let value = element.text_of(&format!("Checksum{}", row.name))?;
        Some((row, value.trim()))
    };
    let given: Vec<_> = ALGORITHMS.iter().filter_map(of_row).collect();
    let refused = || {
        let pairs = given.iter().map(|(row, value)| format!("{}:{value};", row.name));
        let reason = "Invalid Base64 or multiple checksums present in request";
        Error::argument("Checksum", Some(&pairs.collect::<String>()), reason)
    };
    match given.as_slice() {
        [] => Ok(None),
        [(row, value)] => row.algorithm.read(value).map(Some).ok_or_else(refused),
        _ => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(parts: &str) -> Result<PartDocument, Error> {
        let text = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        PartDocument::parse(text.as_bytes())
    }

    fn part(number: u32) -> String {
        format!("<Part><PartNumber>{number}</PartNumber><ETag>&quot;a&quot;</ETag></Part>")
    }

    #[test]
    fn ten_thousand_parts_with_checksums_are_read_and_one_more_is_not() {
        let full = |number: u32| {
            format!(
                "<Part><ChecksumSHA256>{}=</ChecksumSHA256><ETag>&quot;{}&quot;</ETag><PartNumber>{number}</PartNumber></Part>",
                "A".repeat(43),
                "a".repeat(32)
            )
        };
        let all: String = (1..=PARTS_MAX).map(full).collect();
        assert_eq!(document(&all).unwrap().0.len(), 10_000);
        assert_eq!(document(&(all + &part(1))), Err(Error::MalformedXml));
    }

    #[test]
    fn what_is_no_list_of_parts_is_refused() {
        assert!(matches!(document(""), Err(Error::InvalidRequest { .. })));
        for number in ["0", "-1", "10001"] {
            let parts = part(1).replace(">1<", &format!(">{number}<"));
            assert!(matches!(document(&parts), Err(Error::InvalidArgument { .. })), "{number}");
        }
        for parts in ["<Part/>", "<Part><PartNumber>1</PartNumber></Part>"] {
            assert_eq!(document(parts), Err(Error::MalformedXml), "{parts}");
        }
        assert_eq!(document(&part(1).replace(">1<", ">x<")), Err(Error::MalformedXml));
        let sum = "<ChecksumCRC32>AAAAAA==</ChecksumCRC32>";
        let with = |more: &str| part(1).replace("</Part>", &format!("{more}</Part>"));
        assert!(document(&with(sum)).is_ok());
        for (sums, shown) in [
            ("<ChecksumCRC32>AAAAAB==</ChecksumCRC32>", "CRC32:AAAAAB==;"),
            ("<ChecksumCRC32>AAAAAAAA</ChecksumCRC32>", "CRC32:AAAAAAAA;"),
            ("<ChecksumCRC32/>", "CRC32:;"),
            (
                "<ChecksumCRC32C>AAAAAA==</ChecksumCRC32C><ChecksumCRC32>AAAAAA==</ChecksumCRC32>",
                "CRC32:AAAAAA==;CRC32C:AAAAAA==;",
            ),
        ] {
            let refused = document(&with(sums));
            assert!(
                matches!(&refused, Err(Error::InvalidArgument { value: Some(value), .. }) if value == shown),
                "{sums}: {refused:?}"
            );
        }
        for parts in [
            with("<PartNumber>1</PartNumber>"),
            with("<ETag>a</ETag>"),
            with(&sum.repeat(2)),
            with("<ChecksumMD6>AAAAAA==</ChecksumMD6>"),
            with("<Size>1</Size>"),
            with("x"),
            part(1) + "<Other/>",
            part(1) + "x",
            part(1).replace(">1<", "><PartNumber>1</PartNumber>1<"),
        ] {
            assert_eq!(document(&parts), Err(Error::MalformedXml), "{parts}");
        }
        assert_eq!(PartDocument::parse(b""), Err(Error::MalformedXml));
    }

    #[test]
    fn numbers_that_do_not_ascend_are_out_of_order() {
        let order = |numbers: &[u32]| {
            let parts: String = numbers.iter().map(|number| part(*number)).collect();
            document(&parts).unwrap().check_order("u")
        };
        assert_eq!(order(&[1, 2, 10_000]), Ok(()));
        for numbers in [&[2, 1][..], &[1, 1], &[1, 3, 2]] {
            assert_eq!(order(numbers), Err(Error::InvalidPartOrder { upload: "u".to_owned() }));
        }
    }
}
