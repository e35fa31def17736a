//! The fields that an error's body carries beside code and message.

use std::borrow::Cow;

use crate::error::Error;
use crate::request::dialect::{Dialect, names_secret};

/// A field of an error body: element name and text.
pub type Detail = (Cow<'static, str>, String);

fn field(name: &'static str, value: &dyn ToString) -> Detail {
    (Cow::Borrowed(name), value.to_string())
}

impl Error {
    /// The sentence of the body, in the words of `dialect`.
    #[must_use]
    pub fn message(&self, dialect: Dialect) -> String {
        dialect.sentence(&self.to_string())
    }

    /// The fields that the body carries after code and message, in their order.
    #[must_use]
    pub fn details(&self, dialect: Dialect) -> Vec<Detail> {
        let mut fields = self.details_of_sender(dialect);
        fields.extend(self.details_of_request(dialect));
        fields.extend(self.details_of_object(dialect));
        fields
    }

    /// The value among these fields that nobody but the sender is to see: credentials of another scheme are somebody's too.
    #[must_use]
    pub fn of_sender_only(&self) -> Option<&str> {
        match self {
            Self::InvalidArgument { argument, value, .. } if argument == "Authorization" => {
                value.as_deref()
            }
            _ => None,
        }
    }

    /// The headers that the answer carries beside those of every answer, by the spec's names.
    #[must_use]
    pub fn headers(&self) -> Vec<Detail> {
        let of_marker = |marker: &String| {
            [field("x-store-delete-marker", &true), field("x-store-version-id", marker)]
        };
        match self {
            Self::Deleted { marker, .. } => of_marker(marker).into(),
            Self::IsDeleteMarker { marker, modified, .. } => of_marker(marker)
                .into_iter()
                .chain([field("allow", &"DELETE"), field("last-modified", modified)])
                .collect(),
            Self::MethodNotAllowed { allowed, .. } => {
                allowed.iter().map(|allowed| field("allow", allowed)).collect()
            }
            // An answer to HEAD has no body that could name it.
            Self::AuthorizationHeaderMalformed { region, .. }
            | Self::AuthorizationQueryParameters { region, .. }
            | Self::InvalidFormCredential { region, .. } => {
                region.iter().map(|region| field("x-store-bucket-region", region)).collect()
            }
            Self::InvalidRange { size, .. } => {
                vec![field("content-range", &format!("bytes */{size}"))]
            }
            _ => Vec::new(),
        }
    }

    /// Those of the request line and of the one who sends it.
    fn details_of_sender(&self, dialect: Dialect) -> Vec<Detail> {
        let names = dialect.names();
        let header = |name: &str| dialect.header(name).into_owned();
        match self {
            Self::KeyTooLong { size, most } => {
                vec![field("Size", size), field("MaxSizeAllowed", most)]
            }
            Self::HeaderSectionTooLarge { most } => vec![field("MaxSizeAllowed", most)],
            Self::MethodNotAllowed { method, resource, .. } => {
                vec![field("Method", method), field("ResourceType", resource)]
            }
            Self::ParameterNotImplemented { name } => vec![field("Parameter", name)],
            Self::AuthorizationHeaderMalformed { region, .. }
            | Self::AuthorizationQueryParameters { region, .. } => {
                region.iter().map(|region| field("Region", region)).collect()
            }
            Self::InvalidFormCredential { name, value, region, .. } => {
                [field("ArgumentName", name), field("ArgumentValue", value)]
                    .into_iter()
                    .chain(region.iter().map(|region| field("Region", region)))
                    .collect()
            }
            Self::InvalidAccessKeyId { access_key } => {
                vec![field(names.access_key_element, access_key)]
            }
            Self::RequestTimeTooSkewed { request_time, server_time, most_millis } => vec![
                field("RequestTime", request_time),
                field("ServerTime", server_time),
                field("MaxAllowedSkewMilliseconds", most_millis),
            ],
            Self::RequestExpired { valid_seconds, expires, server_time } => valid_seconds
                .iter()
                .map(|seconds| field(names.expires_element, seconds))
                .chain([field("Expires", expires), field("ServerTime", server_time)])
                .collect(),
            Self::RequestNotYetValid { from_millis, expires, server_time } => vec![
                field(names.date_element, from_millis),
                field("Expires", expires),
                field("ServerTime", server_time),
            ],
            Self::HeadersNotSigned { names } => vec![field("HeadersNotSigned", names)],
            Self::InvalidContentSha256 { value } => vec![
                field("ArgumentName", &header("x-store-content-sha256")),
                field("ArgumentValue", value),
            ],
            Self::SignatureDoesNotMatch(mismatch) => {
                let signed = without_secrets(&mismatch.string_to_sign);
                let canonical = without_secrets(&mismatch.canonical_request);
                let shows = !signed.is_empty();
                let mut fields = vec![field(names.access_key_element, &mismatch.access_key)];
                fields.extend(shows.then(|| field("StringToSign", &signed)));
                fields.push(field("SignatureProvided", &mismatch.provided));
                fields.extend(shows.then(|| field("StringToSignBytes", &hex_bytes(&signed))));
                if !canonical.is_empty() {
                    fields.push(field("CanonicalRequest", &canonical));
                    fields.push(field("CanonicalRequestBytes", &hex_bytes(&canonical)));
                }
                fields
            }
            _ => Vec::new(),
        }
    }

    /// Those of buckets and headers.
    fn details_of_request(&self, dialect: Dialect) -> Vec<Detail> {
        let header = |name: &str| dialect.header(name).into_owned();
        match self {
            Self::InvalidBucketName { bucket }
            | Self::NoSuchBucket { bucket }
            | Self::BucketAlreadyExists { bucket }
            | Self::BucketAlreadyOwnedByYou { bucket }
            | Self::BucketNotEmpty { bucket, .. } => vec![field("BucketName", bucket)],
            Self::NoSuchAccessPoint { name } => vec![field("AccessPointName", name)],
            Self::NotConfigured { bucket, .. } => {
                bucket.iter().map(|bucket| field("BucketName", bucket)).collect()
            }
            Self::CrossOrigin { method, resource, .. } => {
                vec![field("Method", method), field("ResourceType", resource)]
            }
            Self::InvalidLocationConstraint { region } => {
                vec![field("LocationConstraint", region)]
            }
            Self::HeaderNotImplemented { header: names, reason } => {
                let names: Vec<_> = names.split(',').map(header).collect();
                [field("Header", &names.join(","))]
                    .into_iter()
                    .chain(
                        reason
                            .iter()
                            .map(|reason| field("additionalMessage", &dialect.sentence(reason))),
                    )
                    .collect()
            }
            Self::InvalidArgument { argument, value, .. } => {
                [field("ArgumentName", &header(argument))]
                    .into_iter()
                    .chain(value.iter().map(|value| field("ArgumentValue", value)))
                    .collect()
            }
            Self::InvalidEncryptionAlgorithm { value } => vec![
                field("ArgumentName", &header("x-store-server-side-encryption")),
                field("ArgumentValue", value),
            ],
            Self::MissingSecurityHeader { header: name } => {
                vec![field("MissingHeaderName", &header(name))]
            }
            Self::InvalidDigest { value } => vec![field("Content-MD5", value)],
            Self::InvalidStorageClass { class } => vec![field("StorageClassRequested", class)],
            Self::InvalidTag { key, value, .. } => [field("TagKey", key)]
                .into_iter()
                .chain(value.iter().map(|value| field("TagValue", value)))
                .collect(),
            Self::MetadataTooLarge { size, most } => {
                vec![field("Size", size), field("MaxSizeAllowed", most)]
            }
            Self::EntityTooLarge { proposed, most } => {
                vec![field("ProposedSize", proposed), field("MaxSizeAllowed", most)]
            }
            Self::MessageTooLong { most } => vec![field("MaxMessageLengthBytes", most)],
            Self::FormTooLong { most } => vec![field("MaxSizeAllowed", most)],
            Self::FileTooSmall { proposed, least } => {
                vec![field("ProposedSize", proposed), field("MinSizeAllowed", least)]
            }
            _ => Vec::new(),
        }
    }

    /// Those of what is stored, of the body and of the commit.
    fn details_of_object(&self, dialect: Dialect) -> Vec<Detail> {
        let header = |name: &str| dialect.header(name).into_owned();
        match self {
            Self::NoSuchKey { key } | Self::Deleted { key, .. } => vec![field("Key", key)],
            Self::IsDeleteMarker { method, .. } => {
                vec![field("Method", method), field("ResourceType", &"DeleteMarker")]
            }
            Self::NoSuchVersion { key, version } => {
                vec![field("Key", key), field("VersionId", version)]
            }
            Self::PreconditionFailed { condition } => vec![field("Condition", &header(condition))],
            Self::InvalidRange { requested, size } => {
                vec![field("RangeRequested", requested), field("ActualObjectSize", size)]
            }
            Self::InvalidPartNumber { number, count } => {
                vec![field("PartNumberRequested", number), field("ActualPartCount", count)]
            }
            Self::NoSuchUpload { upload } | Self::InvalidPartOrder { upload } => {
                vec![field("UploadId", upload)]
            }
            Self::InvalidPart { upload, number, etag } => {
                vec![field("UploadId", upload), field("PartNumber", number), field("ETag", etag)]
            }
            Self::EntityTooSmall { number, etag, proposed, least } => vec![
                field("ProposedSize", proposed),
                field("MinSizeAllowed", least),
                field("PartNumber", number),
                field("ETag", etag),
            ],
            Self::InvalidObjectState { class } | Self::NotArchived { class } => {
                vec![field("StorageClass", class)]
            }
            Self::BodyTerminated { reason } => vec![field("additionalMessage", reason)],
            Self::IncompleteBody { expected, provided } => {
                vec![field("NumberBytesExpected", expected), field("NumberBytesProvided", provided)]
            }
            Self::InvalidChunkSize { chunk, size } => {
                vec![field("Chunk", chunk), field("BadChunkSize", size)]
            }
            Self::ContentSha256Mismatch { client, server } => vec![
                field("ClientComputedContentSHA256", client),
                field("S3ComputedContentSHA256", server),
            ],
            Self::Md5Mismatch { expected, calculated } => {
                vec![field("ExpectedDigest", expected), field("CalculatedDigest", calculated)]
            }
            Self::ConditionalRequestConflict { condition, key } => {
                vec![field("Condition", &header(condition)), field("Key", key)]
            }
            _ => Vec::new(),
        }
    }
}

/// A text that was signed, with dots for the values of headers and parameters that hold a customer's key or the token of a session: what is refused
/// stands in the log of requests.
fn without_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for piece in text.split_inclusive(['\n', '&']) {
        let (line, end) = match piece.strip_suffix(['\n', '&']) {
            Some(line) => (line, piece.get(line.len()..).unwrap_or_default()),
            None => (piece, ""),
        };
        let name = line.split([':', '=']).next().unwrap_or_default();
        if line.len() > name.len() && names_secret(name) {
            let sign = line.get(name.len()..=name.len()).unwrap_or_default();
            shown.extend([name, sign, "...", end]);
        } else {
            shown.push_str(piece);
        }
    }
    shown
}

fn hex_bytes(text: &str) -> String {
    let pairs: Vec<_> = text.bytes().map(|byte| hex::encode([byte])).collect();
    pairs.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_body_shows_a_customers_key_or_a_token_that_was_signed() {
        let text = "PUT\n/b/k\nx-amz-server-side-encryption-customer-key=c2VjcmV0&x-id=Put\nhost:a\nx-amz-server-side-encryption-customer-key:c2VjcmV0\nx-amz-copy-source-server-side-encryption-customer-key-md5:c2VjcmV0\n\nhost;x-amz-server-side-encryption-customer-key;x-amz-date\nhash";
        let shown = without_secrets(text);
        assert_eq!(shown, text.replace("c2VjcmV0", "..."));
        let text = "GET\n/b/k\nX-Amz-Expires=9&X-Amz-S3session-Token=c2VjcmV0\nhost:a\nx-amz-security-token:c2VjcmV0\n\nhost;x-amz-security-token\nhash";
        assert_eq!(without_secrets(text), text.replace("c2VjcmV0", "..."));
        assert_eq!(without_secrets(""), "");
    }

    #[test]
    fn credentials_of_another_scheme_are_for_their_sender_alone() {
        let refused = |name| Error::argument(name, Some("Basic dXNlcjpwYXNz"), "Unsupported");
        assert_eq!(refused("Authorization").of_sender_only(), Some("Basic dXNlcjpwYXNz"));
        assert_eq!(refused("x-store-acl").of_sender_only(), None);
    }
}
