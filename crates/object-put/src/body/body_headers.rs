//! The headers about the body itself: they are the same for every operation that takes one.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::auth::payload::Payload;
use crate::body::checksum::{ALGORITHMS, Algorithm, Checksum};
use crate::error::Error;
use crate::request::fields::Fields;

/// The refusal of checksums of two algorithms.
pub const MORE_THAN_ONE: &str =
    "Expecting a single x-store-checksum- header. Multiple checksum Types are not allowed.";

const ALGORITHM: &str = "x-store-sdk-checksum-algorithm";
const TRAILER: &str = "x-store-trailer";

/// The checksum that a body brings, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChecksumPlan {
    /// None: the default algorithm is computed.
    Default,
    /// None: that of this algorithm is computed.
    Computed(Algorithm),
    /// A header has it.
    Header(Checksum),
    /// The trailer will have it.
    Trailer(Algorithm),
}

impl ChecksumPlan {
    /// The algorithm to compute.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::Default => Algorithm::default(),
            Self::Header(checksum) => checksum.algorithm,
            Self::Computed(algorithm) | Self::Trailer(algorithm) => *algorithm,
        }
    }
}

/// The headers about the body itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyHeaders {
    /// The framing of the body, and what its signature covers.
    pub payload: Payload,
    /// Bytes of the body, without framing; `None` where an operation other than PutObject leaves them open.
    pub length: Option<u64>,
    /// The MD5 that it must have.
    pub md5: Option<[u8; 16]>,
    /// The checksum that it must have.
    pub checksum: ChecksumPlan,
}

/// Values of single headers about the body.
#[derive(Debug, Default)]
pub struct BodyValues {
    /// Content-Length.
    pub length: Option<u64>,
    /// Content-MD5.
    pub md5: Option<[u8; 16]>,
    /// `x-store-sdk-checksum-algorithm`.
    pub algorithm: Option<Algorithm>,
    /// `x-store-checksum-*`.
    pub checksums: Vec<Checksum>,
}

impl BodyHeaders {
    /// Reads the headers about the body.
    ///
    /// # Errors
    /// `InvalidDigest`, `InvalidRequest`, `ChecksumOfAnotherAlgorithm`, `MalformedTrailer`, `InvalidArgument`.
    pub fn read(fields: &Fields<'_>, payload: Payload) -> Result<Self, Error> {
        let mut values = BodyValues::default();
        if let Some(value) = fields.get("content-md5")? {
            values.md5 = Some(md5(&value)?);
        }
        check_single(fields)?;
        for row in &ALGORITHMS {
            if let Some(value) = fields.get(row.header)? {
                values.checksums.push(checksum(row.header, &value)?);
            }
        }
        let named = fields.get(ALGORITHM)?.filter(|value| !value.is_empty());
        let named = named.map(|value| algorithm(ALGORITHM, &value));
        let checksum = checksum_plan(fields, payload, values.checksums, named)?;
        let length = length_of(fields, payload, || {
            let value = fields.get("content-length")?;
            value.map(|value| number("content-length", &value)).transpose()
        })?;
        Ok(Self { payload, length, md5: values.md5, checksum })
    }

    /// The headers about the body of a request whose checksum headers are about something else.
    ///
    /// # Errors
    /// `InvalidDigest`, `InvalidArgument`.
    pub fn without_checksum(fields: &Fields<'_>, payload: Payload) -> Result<Self, Error> {
        let value = fields.get("content-md5")?;
        let md5 = value.map(|value| md5(&value)).transpose()?;
        let length = length_of(fields, payload, || {
            let value = fields.get("content-length")?;
            value.map(|value| number("content-length", &value)).transpose()
        })?;
        Ok(Self { payload, length, md5, checksum: ChecksumPlan::Default })
    }

    /// The headers about the body whose `values` were read one by one.
    ///
    /// # Errors
    /// As [`BodyHeaders::read`], but for faults of single values.
    pub fn of_values(
        fields: &Fields<'_>,
        payload: Payload,
        values: BodyValues,
    ) -> Result<Self, Error> {
        let BodyValues { length, md5, algorithm, checksums } = values;
        let checksum = checksum_plan(fields, payload, checksums, algorithm.map(Ok))?;
        let length = length_of(fields, payload, || Ok(length))?;
        Ok(Self { payload, length, md5, checksum })
    }

    /// Bytes of the body, for an operation that has to know them before it takes any.
    ///
    /// # Errors
    /// `HeaderNotImplemented` where the transfer coding alone would tell its end, `MissingContentLength` where nothing does.
    pub fn told_length(&self, fields: &Fields<'_>) -> Result<u64, Error> {
        const CODING: &str = "Transfer-Encoding";
        match self.length {
            Some(length) => Ok(length),
            // A framing of the service's own lacks its decoded length, whatever carries it.
            None if fields.has("transfer-encoding") && !self.payload.is_chunked() => {
                Err(Error::HeaderNotImplemented { header: CODING, reason: None })
            }
            None => Err(Error::MissingContentLength),
        }
    }
}

/// Checks that a body brings a digest of itself.
///
/// # Errors
/// `InvalidRequest`.
pub fn check_digest(fields: &Fields<'_>) -> Result<(), Error> {
    let has_digest = fields.has("content-md5")
        || trailer_names(fields)?.is_some()
        || fields.starting_with("x-store-checksum-").next().is_some();
    match has_digest {
        true => Ok(()),
        false => Err(Error::request(
            "Missing required header for this request: Content-MD5 OR x-store-checksum-*",
        )),
    }
}

/// A number of bytes.
///
/// # Errors
/// [`Error::InvalidArgument`].
pub fn number(name: &'static str, value: &str) -> Result<u64, Error> {
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| value.parse().ok()).flatten();
    number.ok_or_else(|| Error::argument(name, Some(value), "The value is no number of bytes"))
}

/// The value of Content-MD5.
///
/// # Errors
/// [`Error::InvalidDigest`].
pub fn md5(value: &str) -> Result<[u8; 16], Error> {
    let bytes = STANDARD.decode(value).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| Error::InvalidDigest { value: value.to_owned() })
}

/// The algorithm that the header `name` names.
///
/// # Errors
/// [`Error::InvalidRequest`].
pub fn algorithm(name: &'static str, value: &str) -> Result<Algorithm, Error> {
    Algorithm::parse(value).ok_or_else(|| invalid_header(name))
}

/// The checksum that the header `name` brings.
///
/// # Errors
/// [`Error::InvalidRequest`].
pub fn checksum(name: &'static str, value: &str) -> Result<Checksum, Error> {
    let row = ALGORITHMS.iter().find(|row| row.header == name);
    row.and_then(|row| row.algorithm.read(value)).ok_or_else(|| invalid_header(name))
}

/// The refusal of a value that the header `name` cannot have.
#[must_use]
pub fn invalid_header(name: &str) -> Error {
    Error::request(format!("Value for {name} header is invalid."))
}

/// Bytes of the body: a chunked one has a header of its own for them.
fn length_of(
    fields: &Fields<'_>,
    payload: Payload,
    plain: impl FnOnce() -> Result<Option<u64>, Error>,
) -> Result<Option<u64>, Error> {
    const DECODED: &str = "x-store-decoded-content-length";
    let decoded = fields.get(DECODED)?.map(|value| number(DECODED, &value));
    if payload.is_chunked() {
        // One that cannot be read is none, as in the real service.
        return decoded.transpose().map_err(|_| Error::MissingContentLength);
    }
    let named = fields.get("x-store-content-sha256")?;
    if payload == Payload::NoHash
        && named.is_some_and(|named| named.starts_with("STREAMING-"))
        && !matches!(decoded, Some(Ok(_)))
    {
        // A URL says nothing of framings, but one that is named still wants its length.
        return Err(Error::MissingContentLength);
    }
    let plain = plain()?;
    match (plain, decoded) {
        (Some(provided), Some(Ok(expected))) if provided != expected => {
            Err(Error::IncompleteBody { expected, provided })
        }
        _ => Ok(plain),
    }
}

/// Refuses more than one checksum, whatever they say.
///
/// # Errors
/// [`Error::InvalidRequest`].
pub fn check_single(fields: &Fields<'_>) -> Result<(), Error> {
    match ALGORITHMS.iter().filter(|row| fields.has(row.header)).count() {
        0 | 1 => Ok(()),
        _ => Err(Error::request(MORE_THAN_ONE)),
    }
}

/// Refuses checksums of algorithms that nobody here knows.
///
/// # Errors
/// [`Error::InvalidRequest`].
pub fn check_algorithms(fields: &Fields<'_>) -> Result<(), Error> {
    // Names that look like a checksum's but belong to something else.
    let other = ["algorithm", "type", "mode"];
    let unknown = fields
        .starting_with("x-store-checksum-")
        .any(|(name, _)| Algorithm::parse(name).is_none() && !other.contains(&name));
    match unknown {
        true => Err(Error::request(
            "The algorithm type you specified in x-store-checksum- header is invalid.",
        )),
        false => Ok(()),
    }
}

fn checksum_plan(
    fields: &Fields<'_>,
    payload: Payload,
    mut given: Vec<Checksum>,
    named: Option<Result<Algorithm, Error>>,
) -> Result<ChecksumPlan, Error> {
    if given.is_empty() {
        check_algorithms(fields)?;
    }
    if given.len() > 1 {
        return Err(Error::request(MORE_THAN_ONE));
    }
    let plan = match given.pop() {
        Some(checksum) => match trailer_names(fields)? {
            Some(names) => {
                return Err(Error::request(match names.trim_end_matches(',').contains(',') {
                    true => MORE_THAN_ONE,
                    false => "Expecting a single x-store-checksum- header",
                }));
            }
            None => ChecksumPlan::Header(checksum),
        },
        None => {
            let trailer = trailer_algorithm(fields, payload)?;
            trailer.map_or(ChecksumPlan::Default, ChecksumPlan::Trailer)
        }
    };
    check_named_algorithm(fields, &plan, named)?;
    Ok(plan)
}

/// The names that the header of the trailer has; an empty one is none, as in the real service.
fn trailer_names<'f>(fields: &'f Fields<'_>) -> Result<Option<Cow<'f, str>>, Error> {
    Ok(fields.get(TRAILER)?.filter(|names| !names.is_empty()))
}

fn trailer_algorithm(fields: &Fields<'_>, payload: Payload) -> Result<Option<Algorithm>, Error> {
    let Some(names) = trailer_names(fields)? else {
        return Ok(None);
    };
    let row = |name: &str| {
        let name = name.trim().to_ascii_lowercase();
        ALGORITHMS.iter().find(|row| fields.dialect().is_header(&name, row.header))
    };
    // Commas at the end are passed over, as in the real service; a name that is none is not.
    let rows: Option<Vec<_>> = names.trim_end_matches(',').split(',').map(row).collect();
    match rows.as_deref() {
        None => Err(Error::request(
            "The value specified in the x-store-trailer header is not supported",
        )),
        Some([row]) => match payload {
            Payload::UnsignedTrailer | Payload::SignedTrailer => Ok(Some(row.algorithm)),
            _ => Err(Error::MalformedTrailer),
        },
        Some(_) => Err(Error::request(MORE_THAN_ONE)),
    }
}

/// Checks that the algorithm that `x-store-sdk-checksum-algorithm` names is the one that a checksum comes with.
fn check_named_algorithm(
    fields: &Fields<'_>,
    plan: &ChecksumPlan,
    named: Option<Result<Algorithm, Error>>,
) -> Result<(), Error> {
    let Some(named) = named.transpose()? else {
        return Ok(());
    };
    if *plan == ChecksumPlan::Default {
        return Err(Error::request(
            "x-store-sdk-checksum-algorithm specified, but no corresponding x-store-checksum-* or x-store-trailer headers were found.",
        ));
    }
    match plan.algorithm() == named {
        true => Ok(()),
        false if fields.dialect().names().other_algorithm_is_bad_digest => {
            Err(Error::ChecksumOfAnotherAlgorithm)
        }
        false => Err(invalid_header(ALGORITHM)),
    }
}
