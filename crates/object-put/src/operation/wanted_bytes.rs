//! The bytes that GetObject and HeadObject want: all, a range, or a part by its number.

use std::ops::Range;

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::operation::ReadCall;
use crate::operation::multipart::part_number;
use crate::request::etag;
use crate::request::range;
use crate::store::part_cursor::part_at;
use crate::store::part_list::{ListedPart, Parts};
use crate::store::version::{ObjectData, ObjectVersion};

const NUMBER: &str = "partNumber";

/// The bytes of an object that a read wants.
#[derive(Debug)]
pub struct WantedBytes {
    /// Their places.
    pub bytes: Range<u64>,
    /// Set if these are told to be a part of it: all of it may be one.
    pub is_range: bool,
    /// The part whose number is named, of an object that was put in parts.
    pub part: Option<ListedPart>,
}

impl WantedBytes {
    fn of_range(range: Option<Range<u64>>, size: u64) -> Self {
        Self { is_range: range.is_some(), bytes: range.unwrap_or(0..size), part: None }
    }

    /// Looks at `Range` and `partNumber` before the object is: whether it is there says nothing about them.
    ///
    /// # Errors
    /// `InvalidRequest` for both together; `InvalidArgument` for a number that no part has.
    pub fn check(call: &ReadCall<'_>) -> Result<(), Error> {
        let Some(number) = call.query.get(NUMBER) else {
            return Ok(());
        };
        if call.fields.has("range") {
            return Err(Error::request(
                "Cannot specify both Range header and partNumber query parameter",
            ));
        }
        part_number(Some(number)).map(|_| ())
    }

    /// Reads `Range`, `If-Range` and `partNumber`.
    ///
    /// # Errors
    /// Those of [`WantedBytes::check`]; `InvalidPartNumber`; `InvalidRange`.
    pub fn read(
        call: &ReadCall<'_>,
        tx: &mut Tx<'_>,
        object: &ObjectVersion,
        data: &ObjectData,
    ) -> Result<Self, Error> {
        Self::check(call)?;
        if let Some(number) = call.query.get(NUMBER) {
            return Self::of_part(tx, part_number(Some(number))?, data);
        }
        let Some(header) = call.fields.get("range")? else {
            return Ok(Self::of_range(None, data.size));
        };
        if let Some(tag) = call.fields.get("if-range")? {
            let same = match Timestamp::from_http_date(&tag) {
                Some(date) => object.modified.seconds() == date.seconds(),
                None => etag::bare(&tag) == data.etag,
            };
            if !same {
                return Ok(Self::of_range(None, data.size));
            }
        }
        Ok(Self::of_range(range::parse(&header, data.size)?, data.size))
    }

    /// A part by its place among the parts. One without bytes is no range: there is nothing that a `Content-Range` could name.
    fn of_part(tx: &mut Tx<'_>, number: u32, data: &ObjectData) -> Result<Self, Error> {
        let found = match &data.parts {
            // An object that was put whole is its only part.
            Parts::One(_) => (number == 1).then_some((0..data.size, None)),
            parts @ Parts::Chunks { .. } => {
                part_at(tx, parts, data.size, number)?.map(|(listed, place)| (place, Some(listed)))
            }
        };
        let count = data.parts.count();
        let (bytes, part) = found.ok_or(Error::InvalidPartNumber { number, count })?;
        Ok(Self { is_range: !bytes.is_empty(), bytes, part })
    }

    /// Their number.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.bytes.end - self.bytes.start
    }
}
