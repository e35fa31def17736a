//! The table of errors: each code with its status, its sentence and its extra fields, as clients see them.

use object_put::error::{Error, KmsFault, SignatureMismatch};
use object_put::request::dialect::Dialect;
use triptych_core::blobs::BlobError;
use triptych_core::error::Coded;
use triptych_core::kv::StoreError;

/// An error, and how it looks in the dialect of stock clients: status, code, sentence, fields.
type Row = (Error, u16, &'static str, &'static str, &'static str);

fn text(text: &str) -> String {
    text.to_owned()
}

const INTERNAL: &str = "We encountered an internal error. Please try again.";
const MALFORMED_XML: &str =
    "The XML you provided was not well-formed or did not validate against our published schema";

#[rustfmt::skip]
fn request_rows() -> Vec<Row> {
    vec![
        (Error::MixedDialects, 400, "InvalidRequest", "The request mixes the names of two dialects; use one of them.", ""),
        (Error::InvalidUri, 400, "InvalidURI", "Couldn't parse the specified URI.", ""),
        (Error::KeyTooLong { size: 1025, most: 1024 }, 400, "KeyTooLongError", "Your key is too long", "Size=1025 MaxSizeAllowed=1024"),
        (Error::HeaderSectionTooLarge { most: 8192 }, 400, "RequestHeaderSectionTooLarge", "Your request header section exceeds the maximum allowed size.", "MaxSizeAllowed=8192"),
        (Error::MethodNotAllowed { method: text("PATCH"), resource: "OBJECT", allowed: None }, 405, "MethodNotAllowed", "The specified method is not allowed against this resource.", "Method=PATCH ResourceType=OBJECT"),
        (Error::MalformedContinuationToken, 400, "MalformedContinuationToken", "The continuation-token you provided invalid.", ""),
        (Error::NoLoggingStatusForKey, 400, "NoLoggingStatusForKey", "There is no such thing as the ?logging sub-resource for a key", ""),
        (Error::UserKeyMustBeSpecified, 400, "UserKeyMustBeSpecified", "User key must be specified.", ""),
        (Error::OperationNotImplemented { operation: "RenameObject" }, 501, "NotImplemented", "RenameObject is not implemented", ""),
        (Error::ParameterNotImplemented { name: text("legal") }, 501, "NotImplemented", "The query parameter legal implies functionality that is not implemented", "Parameter=legal"),
        (Error::Unknown { name: text("x-amz-foo") }, 400, "InvalidRequest", "x-amz-foo is not a known header or parameter of this operation", ""),
        (Error::UnsupportedAuthorization, 400, "InvalidRequest", "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.", ""),
        (Error::SeveralAuthorizations, 400, "InvalidArgument", "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified", ""),
        (Error::AuthorizationHeaderMalformed { reason: text("the region 'a' is wrong; expecting 'b'"), region: Some(text("b")) }, 400, "AuthorizationHeaderMalformed", "The authorization header is malformed; the region 'a' is wrong; expecting 'b'", "Region=b"),
        (Error::AuthorizationQueryParameters { reason: text("X-Store-Expires is odd"), region: None }, 400, "AuthorizationQueryParametersError", "X-Amz-Expires is odd", ""),
        (Error::MissingQueryParameters, 403, "AccessDenied", "Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters", ""),
        (Error::MissingDate, 403, "AccessDenied", "AWS authentication requires a valid Date or x-amz-date header", ""),
        (Error::InvalidAccessKeyId { access_key: text("AK") }, 403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.", "AWSAccessKeyId=AK"),
        (Error::InvalidToken, 400, "InvalidToken", "The provided token is malformed or otherwise invalid.", ""),
        (Error::ExpiredToken, 400, "ExpiredToken", "The provided token has expired.", ""),
        (Error::RequestTimeTooSkewed { request_time: text("20260101T000000Z"), server_time: text("now"), most_millis: 900_000 }, 403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.", "RequestTime=20260101T000000Z ServerTime=now MaxAllowedSkewMilliseconds=900000"),
        (Error::InvalidExpires { value: text("soon") }, 403, "AccessDenied", "Invalid date (should be seconds since epoch): soon", ""),
        (Error::RequestExpired { valid_seconds: Some(2), expires: text("then"), server_time: text("now") }, 403, "AccessDenied", "Request has expired", "X-Amz-Expires=2 Expires=then ServerTime=now"),
        (Error::RequestNotYetValid { from_millis: 5, expires: text("then"), server_time: text("now") }, 403, "AccessDenied", "Request is not yet valid", "X-Amz-Date=5 Expires=then ServerTime=now"),
        (Error::HeadersNotSigned { names: text("x-amz-meta-wrong") }, 403, "AccessDenied", "There were headers present in the request which were not signed", "HeadersNotSigned=x-amz-meta-wrong"),
        (Error::MissingContentSha256, 400, "InvalidRequest", "Missing required header for this request: x-amz-content-sha256", ""),
        (Error::InvalidContentSha256 { value: text("abc") }, 400, "InvalidArgument", "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER or a valid sha256 value.", "ArgumentName=x-amz-content-sha256 ArgumentValue=abc"),
        (Error::SignatureDoesNotMatch(Box::new(SignatureMismatch { access_key: text("AK"), provided: text("00"), string_to_sign: text("AB"), canonical_request: text("C") })), 403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided. Check your key and signing method.", "AWSAccessKeyId=AK StringToSign=AB SignatureProvided=00 StringToSignBytes=41 42 CanonicalRequest=C CanonicalRequestBytes=43"),
    ]
}

#[rustfmt::skip]
fn bucket_rows() -> Vec<Row> {
    let bucket = || text("b");
    vec![
        (Error::InvalidBucketName { bucket: bucket() }, 400, "InvalidBucketName", "The specified bucket is not valid.", "BucketName=b"),
        (Error::NoSuchBucket { bucket: bucket() }, 404, "NoSuchBucket", "The specified bucket does not exist", "BucketName=b"),
        (Error::NoSuchAccessPoint { name: text("p") }, 404, "NoSuchAccessPoint", "The specified accesspoint does not exist", "AccessPointName=p"),
        (Error::InvalidBucketOwner { value: text("abcd") }, 400, "InvalidBucketOwnerAWSAccountID", "The value of the expected bucket owner parameter must be an AWS Account ID... [abcd]", ""),
        (Error::AccessDenied, 403, "AccessDenied", "Access Denied", ""),
        (Error::AnonymousUpload, 403, "AccessDenied", "Anonymous users cannot initiate multipart uploads.  Please authenticate.", ""),
        (Error::MissingOrigin, 400, "BadRequest", "Insufficient information. Origin request header needed.", ""),
        (Error::InvalidPreflight { reason: text("no") }, 400, "BadRequest", "no", ""),
        (Error::CrossOrigin { method: text("PUT"), resource: "BUCKET", reason: "CORS is not enabled for this bucket." }, 403, "AccessForbidden", "CORSResponse: CORS is not enabled for this bucket.", "Method=PUT ResourceType=BUCKET"),
        (Error::ObjectLocked, 403, "AccessDenied", "Access Denied because object protected by object lock.", ""),
        (Error::BucketAlreadyExists { bucket: bucket() }, 409, "BucketAlreadyExists", "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.", "BucketName=b"),
        (Error::BucketAlreadyOwnedByYou { bucket: bucket() }, 409, "BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded and you already own it.", "BucketName=b"),
        (Error::BucketNotEmpty { bucket: bucket(), keeps_versions: true }, 409, "BucketNotEmpty", "The bucket you tried to delete is not empty. You must delete all versions in the bucket.", "BucketName=b"),
        (Error::NoVersioningState, 400, "IllegalVersioningConfigurationException", "The Versioning element must be specified", ""),
        (Error::InvalidBucketState { reason: "no" }, 409, "InvalidBucketState", "no", ""),
        (Error::HeaderNotImplemented { header: "If-Match,If-None-Match", reason: Some("not-store:kms") }, 501, "NotImplemented", "A header you provided implies functionality that is not implemented", "Header=If-Match,If-None-Match additionalMessage=not-aws:kms"),
        (Error::AccessControlListNotSupported, 400, "AccessControlListNotSupported", "The bucket does not allow ACLs", ""),
        (Error::BucketAclWithOwnership, 400, "InvalidBucketAclWithObjectOwnership", "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting", ""),
        (Error::BucketAclWithPublicAccessBlock, 400, "InvalidBucketAclWithBlockPublicAccessError", "Bucket cannot have public ACLs set with BlockPublicAccess enabled", ""),
        (Error::IllegalLocationConstraint { region: text("r") }, 400, "IllegalLocationConstraintException", "The r location constraint is incompatible for the region specific endpoint this request was sent to.", ""),
        (Error::InvalidLocationConstraint { region: text("r") }, 400, "InvalidLocationConstraint", "The specified location-constraint is not valid", "LocationConstraint=r"),
        (Error::argument("x-store-acl", Some("fake-acl"), ""), 400, "InvalidArgument", "", "ArgumentName=x-amz-acl ArgumentValue=fake-acl"),
        (Error::InvalidEncryptionAlgorithm { value: text("KMS") }, 400, "InvalidEncryptionAlgorithmError", "The Encryption request you specified is not valid. Supported value: AES256.", "ArgumentName=x-amz-server-side-encryption ArgumentValue=KMS"),
        (Error::request("Value for x-store-checksum-crc32 header is invalid."), 400, "InvalidRequest", "Value for x-amz-checksum-crc32 header is invalid.", ""),
        (Error::UnresolvableGrantByEmailAddress { address: text("a@b") }, 400, "UnresolvableGrantByEmailAddress", "The e-mail address you provided does not match any account on record.", ""),
        (Error::MissingSecurityHeader { header: "x-store-acl" }, 400, "MissingSecurityHeader", "Your request was missing a required header", "MissingHeaderName=x-amz-acl"),
        (Error::InvalidDigest { value: text("000") }, 400, "InvalidDigest", "The Content-MD5 you specified was invalid.", "Content-MD5=000"),
        (Error::InvalidStorageClass { class: text("OUTPOSTS") }, 400, "InvalidStorageClass", "The storage class you specified is not valid", "StorageClassRequested=OUTPOSTS"),
        (Error::InvalidRedirectLocation, 400, "InvalidRedirectLocation", "The website redirect location must have a prefix of 'http://' or 'https://' or '/'.", ""),
        (Error::InvalidTag { key: text("k"), value: Some(text("v")), reason: "The TagValue you have provided is invalid" }, 400, "InvalidTag", "The TagValue you have provided is invalid", "TagKey=k TagValue=v"),
        (Error::TooManyTags { reason: "Object tags cannot be greater than 10" }, 400, "BadRequest", "Object tags cannot be greater than 10", ""),
        (Error::MetadataTooLarge { size: 2049, most: 2048 }, 400, "MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size", "Size=2049 MaxSizeAllowed=2048"),
        (Error::MissingContentLength, 411, "MissingContentLength", "You must provide the Content-Length HTTP header.", ""),
        (Error::EntityTooLarge { proposed: 5_368_709_121, most: 5_368_709_120 }, 400, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size", "ProposedSize=5368709121 MaxSizeAllowed=5368709120"),
        (Error::MessageTooLong { most: 131_072 }, 400, "MaxMessageLengthExceeded", "Your request was too large.", "MaxMessageLengthBytes=131072"),
        (Error::UnexpectedContent, 400, "UnexpectedContent", "This request does not support content", ""),
    ]
}

#[rustfmt::skip]
fn object_rows() -> Vec<Row> {
    let key = || text("k");
    vec![
        (Error::NoSuchKey { key: key() }, 404, "NoSuchKey", "The specified key does not exist.", "Key=k"),
        (Error::Deleted { key: key(), marker: text("v"), modified: text("then") }, 404, "NoSuchKey", "The specified key does not exist.", "Key=k"),
        (Error::IsDeleteMarker { method: "GET", marker: text("v"), modified: text("then") }, 405, "MethodNotAllowed", "The specified method is not allowed against this resource.", "Method=GET ResourceType=DeleteMarker"),
        (Error::NoSuchVersion { key: key(), version: text("v") }, 404, "NoSuchVersion", "The specified version does not exist.", "Key=k VersionId=v"),
        (Error::NoSuchUpload { upload: text("u") }, 404, "NoSuchUpload", "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.", "UploadId=u"),
        (Error::NotConfigured { code: "NoSuchBucketPolicy", bucket: Some(text("b")), reason: "The bucket policy does not exist" }, 404, "NoSuchBucketPolicy", "The bucket policy does not exist", "BucketName=b"),
        (Error::PreconditionFailed { condition: "If-None-Match" }, 412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold", "Condition=If-None-Match"),
        (Error::KeyPreconditionFailed, 412, "412 Precondition Failed", "At least one of the pre-conditions you specified did not hold", ""),
        (Error::kms(KmsFault::Disabled, text("arn:store:kms:r:a:key/k is disabled.")), 400, "KMS.DisabledException", "arn:aws:kms:r:a:key/k is disabled.", ""),
        (Error::KeyServiceFailed { reason: "it did not answer" }, 503, "ServiceUnavailable", "The key service could not be used: it did not answer. Please try again.", ""),
        (Error::CustomerKeysBlocked, 403, "AccessDenied", "This bucket has blocked upload requests that specify Server Side Encryption with Customer provided keys (SSE-C). Please specify a different server-side encryption type", ""),
        (Error::WrongCustomerKey, 403, "AccessDenied", "Requests specifying Server Side Encryption with Customer provided keys must provide the correct secret key.", ""),
        (Error::InvalidWriteOffset, 400, "InvalidWriteOffset", "The write offset value that you specified does not match the current object size.", ""),
        (Error::EncryptionTypeMismatch, 400, "EncryptionTypeMismatch", "The existing object was created with a different encryption type. Subsequent write requests must include the appropriate encryption parameters in the request or while creating the session.", ""),
        (Error::TooManyParts { most: 10_000 }, 400, "TooManyParts", "You have attempted to add more parts than the maximum of 10000 that are allowed for this object. You can use the CopyObject operation to copy this object to another and then add more data to the newly copied object.", ""),
        (Error::InvalidRange { requested: text("bytes=9-"), size: 5 }, 416, "InvalidRange", "The requested range is not satisfiable", "RangeRequested=bytes=9- ActualObjectSize=5"),
        (Error::InvalidPartNumber { number: 2, count: 1 }, 416, "InvalidPartNumber", "The requested partnumber is not satisfiable", "PartNumberRequested=2 ActualPartCount=1"),
        (Error::InvalidObjectState { class: text("GLACIER") }, 403, "InvalidObjectState", "The operation is not valid for the object's storage class", "StorageClass=GLACIER"),
        (Error::RestoreAlreadyInProgress, 409, "RestoreAlreadyInProgress", "Object restore is already in progress", ""),
        (Error::NotArchived { class: text("STANDARD") }, 403, "InvalidObjectState", "Restore is not allowed for the object's current storage class", "StorageClass=STANDARD"),
        (Error::InvalidPartOrder { upload: text("u") }, 400, "InvalidPartOrder", "The list of parts was not in ascending order. Parts must be ordered by part number.", "UploadId=u"),
        (Error::InvalidPart { upload: text("u"), number: 2, etag: text("e") }, 400, "InvalidPart", "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.", "UploadId=u PartNumber=2 ETag=e"),
        (Error::EntityTooSmall { number: 2, etag: text("e"), proposed: 3, least: 5_242_880 }, 400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size", "ProposedSize=3 MinSizeAllowed=5242880 PartNumber=2 ETag=e"),
        (Error::DigestMismatch { reason: text("The crc32c you specified did not match the calculated checksum.") }, 400, "BadDigest", "The crc32c you specified did not match the calculated checksum.", ""),
        (Error::MalformedXml, 400, "MalformedXML", MALFORMED_XML, ""),
        (Error::MissingRequestBody, 400, "MissingRequestBodyError", "Request Body is empty", ""),
        (Error::MalformedAcl, 400, "MalformedACLError", MALFORMED_XML, ""),
        (Error::MalformedPolicy { reason: text("no") }, 400, "MalformedPolicy", "no", ""),
        (Error::BodyTerminated { reason: "odd" }, 400, "IncompleteBody", "The request body terminated unexpectedly", "additionalMessage=odd"),
        (Error::InvalidChunkSize { chunk: 1, size: 8191 }, 403, "InvalidChunkSizeError", "Only the last chunk is allowed to have a size less than 8192 bytes", "Chunk=1 BadChunkSize=8191"),
        (Error::MalformedTrailer, 400, "MalformedTrailerError", "The request contained trailing data that was not well-formed or did not conform to our published schema.", ""),
        (Error::IncompleteBody { expected: 9, provided: 12 }, 400, "IncompleteBody", "You did not provide the number of bytes specified by the Content-Length HTTP header", "NumberBytesExpected=9 NumberBytesProvided=12"),
        (Error::RequestTimeout, 400, "RequestTimeout", "Your socket connection to the server was not read from or written to within the timeout period.", ""),
        (Error::ContentSha256Mismatch { client: text("a"), server: text("b") }, 400, "XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match what was computed.", "ClientComputedContentSHA256=a S3ComputedContentSHA256=b"),
        (Error::Md5Mismatch { expected: text("a"), calculated: text("b") }, 400, "BadDigest", "The Content-MD5 you specified did not match what we received.", "ExpectedDigest=a CalculatedDigest=b"),
        (Error::ChecksumMismatch { algorithm: "CRC64NVME" }, 400, "BadDigest", "The CRC64NVME you specified did not match the calculated checksum.", ""),
        (Error::ChecksumOfAnotherAlgorithm, 400, "BadDigest", "The checksum value does not match the algorithm named in x-amz-sdk-checksum-algorithm.", ""),
        (Error::MalformedForm, 400, "MalformedPOSTRequest", "The body of your POST request is not well-formed multipart/form-data.", ""),
        (Error::FormTooLong { most: 20_480 }, 400, "MaxPostPreDataLengthExceededError", "Your POST request fields preceding the upload file were too large.", "MaxSizeAllowed=20480"),
        (Error::InvalidFormCredential { name: text("X-Amz-Credential"), value: text("AK/x"), reason: text("the region 'a' is wrong; expecting 'b'"), region: Some(text("b")) }, 400, "InvalidArgument", "the region 'a' is wrong; expecting 'b'", "ArgumentName=X-Amz-Credential ArgumentValue=AK/x Region=b"),
        (Error::InvalidPostPolicy { reason: text("no") }, 400, "InvalidPolicyDocument", "Invalid Policy: no", ""),
        (Error::FormRefused { reason: text("no") }, 403, "AccessDenied", "Invalid according to Policy: no", ""),
        (Error::FileTooSmall { proposed: 2, least: 3 }, 400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size", "ProposedSize=2 MinSizeAllowed=3"),
        (Error::ConditionalRequestConflict { condition: "If-Match", key: key() }, 409, "ConditionalRequestConflict", "The conditional request cannot succeed due to a conflicting operation against this resource.", "Condition=If-Match Key=k"),
        (Error::OperationAborted, 409, "OperationAborted", "A conflicting conditional operation is currently in progress against this resource. Please try again.", ""),
        (Error::Store(StoreError::OutcomeUnknown), 503, "ServiceUnavailable", INTERNAL, ""),
        (Error::Body(BlobError::Absent), 500, "InternalError", INTERNAL, ""),
        (Error::Damaged, 500, "InternalError", INTERNAL, ""),
        (Error::Internal, 500, "InternalError", INTERNAL, ""),
    ]
}

#[test]
fn every_error_has_its_status_code_sentence_and_fields() {
    for (error, status, code, message, fields) in all() {
        let row = error.row();
        assert_eq!((row.status, row.code), (status, code), "{error:?}");
        assert_eq!(error.message(Dialect::Amz), message, "{error:?}");
        let details = error.details(Dialect::Amz);
        let shown: Vec<_> = details.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(shown.join(" "), fields, "{error:?}");
    }
}

#[test]
fn the_spec_dialect_never_names_the_other_one() {
    for (error, ..) in all().into_iter().skip(1) {
        let mut shown = error.message(Dialect::Store);
        for (name, value) in error.details(Dialect::Store) {
            shown.push_str(&format!(" {name} {value}"));
        }
        // What the request itself said is echoed as it was.
        let shown = shown.replace("x-amz-meta-wrong", "").replace("x-amz-foo", "");
        assert!(!shown.contains("x-amz-") && !shown.contains("AWS4"), "{shown}");
    }
}

/// No variant of the enum is left out: its source names as many as the table has.
#[test]
fn no_error_is_left_out_of_the_table() {
    let source = include_str!("../src/error/mod.rs");
    let (_, body) = source.split_once("pub enum Error {").unwrap();
    let variants: Vec<_> = body
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()))
        .map(|line| line.split([' ', '(', ',']).next().unwrap())
        .collect();
    let shown: Vec<_> = all()
        .iter()
        .map(|(error, ..)| format!("{error:?}").split([' ', '(']).next().unwrap().to_owned())
        .collect();
    assert_eq!(variants, shown, "the table follows the order of the enum");
}

fn all() -> Vec<Row> {
    [request_rows(), bucket_rows(), object_rows()].concat()
}

#[test]
fn each_fault_of_a_key_has_its_code() {
    for (fault, code) in [
        (KmsFault::NotFound, "KMS.NotFoundException"),
        (KmsFault::Disabled, "KMS.DisabledException"),
        (KmsFault::InvalidState, "KMS.KMSInvalidStateException"),
        (KmsFault::InvalidKeyUsage, "KMS.InvalidKeyUsageException"),
    ] {
        let row = Error::kms(fault, String::new()).row();
        assert_eq!((row.status, row.code), (400, code));
    }
}
