//! Refusals: one enum, in the order in which the checks run. Status and code stand in
//! [`triptych_core::error::Coded::row`] and nowhere else.
//!
//! Sentences and names are written in the spec's vocabulary; [`Error::message`] and [`Error::details`] give
//! them in the dialect that the request speaks.

mod detail;
mod row;

pub use detail::Detail;

use std::borrow::Cow;

use triptych_core::blobs::BlobError;
use triptych_core::kv::StoreError;

/// The texts that a signature check computed, shown to whoever has to find out why theirs differs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SignatureMismatch {
    /// The access key that the request names.
    pub access_key: String,
    /// The signature that the request carries.
    pub provided: String,
    /// The text that was signed here; empty where nobody is to see it.
    pub string_to_sign: String,
    /// The canonical request; empty where the scheme has none.
    pub canonical_request: String,
}

/// The kinds of faults of key-management keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KmsFault {
    /// There is no such key.
    NotFound,
    /// It is disabled.
    Disabled,
    /// It is about to be deleted.
    InvalidState,
    /// It is for something else than encryption.
    InvalidKeyUsage,
}

/// The reason why a request was refused. Declared in the order the checks run: the first that applies is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    // The request line and the operation.
    /// It names headers or parameters of both dialects.
    #[error("The request mixes the names of two dialects; use one of them.")]
    MixedDialects,
    /// The path is no percent-encoded UTF-8, or holds a NUL.
    #[error("Couldn't parse the specified URI.")]
    InvalidUri,
    /// Spec §8 leaves the maximum open; 1,024 bytes as the real service has it.
    #[error("Your key is too long")]
    KeyTooLong {
        /// Bytes of the key.
        size: usize,
        /// The most that it may have.
        most: usize,
    },
    /// More than 8 KiB of headers.
    #[error("Your request header section exceeds the maximum allowed size.")]
    HeaderSectionTooLarge {
        /// The most bytes that they may have.
        most: usize,
    },
    /// A method that the thing a request names does not take.
    #[error("The specified method is not allowed against this resource.")]
    MethodNotAllowed {
        /// The method of the request.
        method: String,
        /// The kind of what it names: SERVICE, BUCKET, OBJECT, or the real service's word for a sub-resource of these.
        resource: &'static str,
        /// The methods that it takes, comma-separated; `None` where they hang on more than what is named.
        allowed: Option<String>,
    },
    /// A list of settings was to go on where none ended.
    #[error("The continuation-token you provided invalid.")]
    MalformedContinuationToken,
    /// A key was asked for the log of its bucket.
    #[error("There is no such thing as the ?logging sub-resource for a key")]
    NoLoggingStatusForKey,
    /// An operation on an object that names none.
    #[error("User key must be specified.")]
    UserKeyMustBeSpecified,
    /// An operation of the wider API that is not there.
    #[error("{operation} is not implemented")]
    OperationNotImplemented {
        /// The operation's name.
        operation: &'static str,
    },
    /// A parameter of a request that writes, which has no meaning for its operation.
    #[error("The query parameter {name} implies functionality that is not implemented")]
    ParameterNotImplemented {
        /// The parameter.
        name: String,
    },
    /// `--strict` refuses what this service does not know.
    #[error("{name} is not a known header or parameter of this operation")]
    Unknown {
        /// The header or parameter.
        name: String,
    },

    // Who asks.
    /// Neither SigV4 nor presigned SigV2.
    #[error(
        "The authorization mechanism you have provided is not supported. Please use STORE4-HMAC-SHA256."
    )]
    UnsupportedAuthorization,
    /// A signature in the header and another in the query.
    #[error(
        "Only one auth mechanism allowed; only the X-Store-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified"
    )]
    SeveralAuthorizations,
    /// The Authorization header cannot be read, or its scope is not this service's.
    #[error("The authorization header is malformed; {reason}")]
    AuthorizationHeaderMalformed {
        /// The fault.
        reason: String,
        /// The region that was expected, where that is the fault.
        region: Option<String>,
    },
    /// A presigned URL with a missing or malformed parameter.
    #[error("{reason}")]
    AuthorizationQueryParameters {
        /// The fault.
        reason: String,
        /// The region that was expected, where that is the fault.
        region: Option<String>,
    },
    /// A presigned URL of the older scheme that lacks a parameter.
    #[error(
        "Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters"
    )]
    MissingQueryParameters,
    /// Neither Date nor x-store-date, or one that cannot be read.
    #[error("AWS authentication requires a valid Date or x-store-date header")]
    MissingDate,
    /// Nobody has this access key.
    #[error("The AWS Access Key Id you provided does not exist in our records.")]
    InvalidAccessKeyId {
        /// The access key that the request names.
        access_key: String,
    },
    /// A session token that is not the key's.
    #[error("The provided token is malformed or otherwise invalid.")]
    InvalidToken,
    /// A session that is over: its time, or the access key that asked for it.
    #[error("The provided token has expired.")]
    ExpiredToken,
    /// The clocks differ by more than 15 minutes.
    #[error("The difference between the request time and the current time is too large.")]
    RequestTimeTooSkewed {
        /// The time of the request, as it was sent.
        request_time: String,
        /// The time here, RFC 3339.
        server_time: String,
        /// Milliseconds that the two may be apart.
        most_millis: i64,
    },
    /// A presigned URL of the older scheme whose end is no number of seconds.
    #[error("Invalid date (should be seconds since epoch): {value}")]
    InvalidExpires {
        /// The value that was sent.
        value: String,
    },
    /// A presigned URL whose time is over.
    #[error("Request has expired")]
    RequestExpired {
        /// Seconds for which it was valid; not given by the older scheme.
        valid_seconds: Option<u64>,
        /// The end of its validity, RFC 3339.
        expires: String,
        /// The time here, RFC 3339.
        server_time: String,
    },
    /// A presigned URL from the future.
    #[error("Request is not yet valid")]
    RequestNotYetValid {
        /// The time that it names, in milliseconds since 1970.
        from_millis: i64,
        /// The end of its validity, RFC 3339.
        expires: String,
        /// The time here, RFC 3339.
        server_time: String,
    },
    /// Headers of the service that the signature does not cover.
    #[error("There were headers present in the request which were not signed")]
    HeadersNotSigned {
        /// Their names, comma-separated.
        names: String,
    },
    /// The payload hash header is missing.
    #[error("Missing required header for this request: x-store-content-sha256")]
    MissingContentSha256,
    /// The payload hash header is neither a hash nor one of the known modes.
    #[error(
        "x-store-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-STORE4-HMAC-SHA256-PAYLOAD, STREAMING-STORE4-HMAC-SHA256-PAYLOAD-TRAILER or a valid sha256 value."
    )]
    InvalidContentSha256 {
        /// The value that was sent.
        value: String,
    },
    /// The signature is not the one computed here.
    #[error(
        "The request signature we calculated does not match the signature you provided. Check your key and signing method."
    )]
    SignatureDoesNotMatch(Box<SignatureMismatch>),

    // The bucket and the right to use it.
    /// Not a name that a bucket can have.
    #[error("The specified bucket is not valid.")]
    InvalidBucketName {
        /// The name.
        bucket: String,
    },
    /// There is no such bucket.
    #[error("The specified bucket does not exist")]
    NoSuchBucket {
        /// The name.
        bucket: String,
    },
    /// There is no such access point.
    #[error("The specified accesspoint does not exist")]
    NoSuchAccessPoint {
        /// The name that was sent.
        name: String,
    },
    /// The expected owner is no account id.
    #[error(
        "The value of the expected bucket owner parameter must be an AWS Account ID... [{value}]"
    )]
    InvalidBucketOwner {
        /// The value that was sent.
        value: String,
    },
    /// The caller may not do this, or the expected owner is another (spec §7).
    #[error("Access Denied")]
    AccessDenied,
    /// An upload in parts that nobody known begins.
    #[error("Anonymous users cannot initiate multipart uploads.  Please authenticate.")]
    AnonymousUpload,
    /// A question across origins that does not say which origin asks.
    #[error("Insufficient information. Origin request header needed.")]
    MissingOrigin,
    /// A question across origins about a request that no browser would send.
    #[error("{reason}")]
    InvalidPreflight {
        /// The fault of it, in words.
        reason: String,
    },
    /// A page of another origin asks whether it may send a request: no rule of the bucket lets it.
    #[error("CORSResponse: {reason}")]
    CrossOrigin {
        /// The method that the page would use, or that of the question.
        method: String,
        /// BUCKET or OBJECT.
        resource: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// A lock protects the version.
    #[error("Access Denied because object protected by object lock.")]
    ObjectLocked,
    /// The bucket is owned by somebody else.
    #[error(
        "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again."
    )]
    BucketAlreadyExists {
        /// The name.
        bucket: String,
    },
    /// The bucket is the caller's already.
    #[error("Your previous request to create the named bucket succeeded and you already own it.")]
    BucketAlreadyOwnedByYou {
        /// The name.
        bucket: String,
    },
    /// The bucket still holds versions.
    #[error("The bucket you tried to delete is not empty{}", if *.keeps_versions {
        ". You must delete all versions in the bucket."
    } else {
        ""
    })]
    BucketNotEmpty {
        /// The name.
        bucket: String,
        /// True if the bucket keeps versions, or did.
        keeps_versions: bool,
    },
    /// A versioning configuration that names no state.
    #[error("The Versioning element must be specified")]
    NoVersioningState,
    /// The request does not fit the state that the bucket is in.
    #[error("{reason}")]
    InvalidBucketState {
        /// The conflict.
        reason: &'static str,
    },

    // Headers and parameters, in the order of the header table.
    /// A header of a feature that is not there for this bucket.
    #[error("A header you provided implies functionality that is not implemented")]
    HeaderNotImplemented {
        /// The header.
        header: &'static str,
        /// The part of it that is not accepted.
        reason: Option<&'static str>,
    },
    /// Spec §4: only bucket-owner-full-control where ACLs are disabled.
    #[error("The bucket does not allow ACLs")]
    AccessControlListNotSupported,
    /// A bucket's ACL beside the setting that disables ACLs.
    #[error("Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting")]
    BucketAclWithOwnership,
    /// A bucket's public ACL while new buckets block those.
    #[error("Bucket cannot have public ACLs set with BlockPublicAccess enabled")]
    BucketAclWithPublicAccessBlock,
    /// A bucket is asked for in another region than this one.
    #[error(
        "The {region} location constraint is incompatible for the region specific endpoint this request was sent to."
    )]
    IllegalLocationConstraint {
        /// The region.
        region: String,
    },
    /// A bucket is asked for in what is no region, or in the one that buckets are in without a word.
    #[error("The specified location-constraint is not valid")]
    InvalidLocationConstraint {
        /// The region.
        region: String,
    },
    /// A value that a header, a parameter or an element may not have.
    #[error("{reason}")]
    InvalidArgument {
        /// The header, parameter or element.
        argument: Cow<'static, str>,
        /// The value that was sent, where that helps.
        value: Option<String>,
        /// The fault.
        reason: Cow<'static, str>,
    },
    /// An algorithm of a customer's key that is not there.
    #[error("The Encryption request you specified is not valid. Supported value: AES256.")]
    InvalidEncryptionAlgorithm {
        /// The value that was sent.
        value: String,
    },
    /// Parts of the request contradict each other or are not what the operation takes.
    #[error("{reason}")]
    InvalidRequest {
        /// The fault.
        reason: Cow<'static, str>,
    },
    /// No account has this e-mail address.
    #[error("The e-mail address you provided does not match any account on record.")]
    UnresolvableGrantByEmailAddress {
        /// The address.
        address: String,
    },
    /// A header that the operation cannot do without.
    #[error("Your request was missing a required header")]
    MissingSecurityHeader {
        /// The header.
        header: &'static str,
    },
    /// Content-MD5 is not the base64 of 16 bytes.
    #[error("The Content-MD5 you specified was invalid.")]
    InvalidDigest {
        /// The value that was sent.
        value: String,
    },
    /// A storage class that is not one, or not one of this kind of bucket.
    #[error("The storage class you specified is not valid")]
    InvalidStorageClass {
        /// The value that was sent.
        class: String,
    },
    /// A website redirect that is neither a path nor a URL.
    #[error("The website redirect location must have a prefix of 'http://' or 'https://' or '/'.")]
    InvalidRedirectLocation,
    /// A tag that breaks a rule.
    #[error("{reason}")]
    InvalidTag {
        /// The tag's key.
        key: String,
        /// The tag's value, where that is the fault.
        value: Option<String>,
        /// The rule.
        reason: &'static str,
    },
    /// More tags than an object, or a bucket, has.
    #[error("{reason}")]
    TooManyTags {
        /// The rule that it breaks, with the most that there may be.
        reason: &'static str,
    },
    /// User metadata of more than 2 KiB.
    #[error("Your metadata headers exceed the maximum allowed metadata size")]
    MetadataTooLarge {
        /// Bytes of names (without prefix) and values.
        size: usize,
        /// The most that they may have.
        most: usize,
    },

    // The length, known from the head.
    /// Neither a length nor a decoded length.
    #[error("You must provide the Content-Length HTTP header.")]
    MissingContentLength,
    /// More than 5 GiB.
    #[error("Your proposed upload exceeds the maximum allowed size")]
    EntityTooLarge {
        /// The length that was announced.
        proposed: u64,
        /// The most that is taken.
        most: u64,
    },
    /// A document that is longer than those of its kind.
    #[error("Your request was too large.")]
    MessageTooLong {
        /// The most bytes that are taken.
        most: usize,
    },
    /// A body where the operation takes none.
    #[error("This request does not support content")]
    UnexpectedContent,

    // What is stored now.
    /// The key is absent, or its current version is a delete marker.
    #[error("The specified key does not exist.")]
    NoSuchKey {
        /// The key.
        key: String,
    },
    /// A delete marker is the key's current version.
    #[error("The specified key does not exist.")]
    Deleted {
        /// The key.
        key: String,
        /// The version id of the marker.
        marker: String,
        /// The time at which it was made, as an HTTP date.
        modified: String,
    },
    /// A delete marker where a version is named, changed or read for its tags: it can only be deleted.
    #[error("The specified method is not allowed against this resource.")]
    IsDeleteMarker {
        /// The method of the request.
        method: &'static str,
        /// The version id of the marker.
        marker: String,
        /// The time at which it was made, as an HTTP date.
        modified: String,
    },
    /// The version is absent.
    #[error("The specified version does not exist.")]
    NoSuchVersion {
        /// The key.
        key: String,
        /// The version.
        version: String,
    },
    /// The upload is absent, was aborted or completed, or is that of another key.
    #[error(
        "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed."
    )]
    NoSuchUpload {
        /// The upload.
        upload: String,
    },
    /// A configuration of a bucket or an object that was never put; `code` says which.
    #[error("{reason}")]
    NotConfigured {
        /// The code of the real service for this missing thing.
        code: &'static str,
        /// The bucket, where it is what lacks the thing.
        bucket: Option<String>,
        /// The sentence of the real service.
        reason: &'static str,
    },
    /// A condition does not hold (spec §3).
    #[error("At least one of the pre-conditions you specified did not hold")]
    PreconditionFailed {
        /// The header that holds the condition.
        condition: &'static str,
    },
    /// A condition on one of many keys of a directory bucket does not hold, for which the real service has a code of its own.
    #[error("At least one of the pre-conditions you specified did not hold")]
    KeyPreconditionFailed,
    /// The key service refuses a key.
    #[error("{reason}")]
    Kms {
        /// The kind of fault.
        fault: KmsFault,
        /// The fault, with the key.
        reason: String,
    },
    /// The key service does not answer, or not as one does.
    #[error("The key service could not be used: {reason}. Please try again.")]
    KeyServiceFailed {
        /// The fault.
        reason: &'static str,
    },
    /// A customer's key for what is written to a bucket that takes none.
    #[error(
        "This bucket has blocked upload requests that specify Server Side Encryption with Customer provided keys (SSE-C). Please specify a different server-side encryption type"
    )]
    CustomerKeysBlocked,
    /// A customer's key that is not the object's.
    #[error(
        "Requests specifying Server Side Encryption with Customer provided keys must provide the correct secret key."
    )]
    WrongCustomerKey,
    /// An append at another place than the end of the object (spec §7).
    #[error("The write offset value that you specified does not match the current object size.")]
    InvalidWriteOffset,
    /// An append to an object of another encryption (spec §7).
    #[error(
        "The existing object was created with a different encryption type. Subsequent write requests must include the appropriate encryption parameters in the request or while creating the session."
    )]
    EncryptionTypeMismatch,
    /// An append to an object with as many parts as there may be (spec §7).
    #[error(
        "You have attempted to add more parts than the maximum of {most} that are allowed for this object. You can use the CopyObject operation to copy this object to another and then add more data to the newly copied object."
    )]
    TooManyParts {
        /// The most parts that an object has.
        most: u32,
    },
    /// A range that lies outside the object.
    #[error("The requested range is not satisfiable")]
    InvalidRange {
        /// The range that was asked for.
        requested: String,
        /// Bytes of the object.
        size: u64,
    },
    /// The object has no such part; one that was put whole has one.
    #[error("The requested partnumber is not satisfiable")]
    InvalidPartNumber {
        /// The part that was asked for.
        number: u32,
        /// The number of parts that the object has.
        count: u32,
    },
    /// The object's storage class does not allow this.
    #[error("The operation is not valid for the object's storage class")]
    InvalidObjectState {
        /// The object's class.
        class: String,
    },

    /// An object is being restored already.
    #[error("Object restore is already in progress")]
    RestoreAlreadyInProgress,

    /// An object that is not archived cannot be restored.
    #[error("Restore is not allowed for the object's current storage class")]
    NotArchived {
        /// The object's class.
        class: String,
    },

    // The list of parts of a completion.
    /// Its numbers do not ascend.
    #[error("The list of parts was not in ascending order. Parts must be ordered by part number.")]
    InvalidPartOrder {
        /// The upload.
        upload: String,
    },
    /// It names a part that is not there, or with other digests.
    #[error(
        "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag."
    )]
    InvalidPart {
        /// The upload.
        upload: String,
        /// The number of the part.
        number: u32,
        /// The entity tag that the list names, without quotes.
        etag: String,
    },
    /// A part that is not the last has too few bytes.
    #[error("Your proposed upload is smaller than the minimum allowed size")]
    EntityTooSmall {
        /// The number of the part.
        number: u32,
        /// Its entity tag, without quotes.
        etag: String,
        /// Its bytes.
        proposed: u64,
        /// The least that it may have.
        least: u64,
    },
    /// A digest of the list, or of the whole, is not the one that was computed.
    #[error("{reason}")]
    DigestMismatch {
        /// The fault.
        reason: String,
    },

    // The body.
    /// The XML of a body is not what the operation takes.
    #[error(
        "The XML you provided was not well-formed or did not validate against our published schema"
    )]
    MalformedXml,
    /// There is no document where the operation has one.
    #[error("Request Body is empty")]
    MissingRequestBody,
    /// The XML of an ACL is not one.
    #[error(
        "The XML you provided was not well-formed or did not validate against our published schema"
    )]
    MalformedAcl,
    /// The policy document is not one.
    #[error("{reason}")]
    MalformedPolicy {
        /// The fault.
        reason: String,
    },
    /// The framing of an aws-chunked body is broken, or the body ended within it.
    #[error("The request body terminated unexpectedly")]
    BodyTerminated {
        /// The fault.
        reason: &'static str,
    },
    /// A chunk that is not the last has less than 8 KiB.
    #[error("Only the last chunk is allowed to have a size less than 8192 bytes")]
    InvalidChunkSize {
        /// Number of the chunk that came behind it, from 1: the real service counts so.
        chunk: u64,
        /// Bytes of the short one.
        size: u64,
    },
    /// The trailer is missing, malformed, or not the one announced.
    #[error(
        "The request contained trailing data that was not well-formed or did not conform to our published schema."
    )]
    MalformedTrailer,
    /// The body's length is not the one announced.
    #[error("You did not provide the number of bytes specified by the Content-Length HTTP header")]
    IncompleteBody {
        /// Bytes that were announced.
        expected: u64,
        /// Bytes that came, or that a chunk announces beyond them.
        provided: u64,
    },
    /// The body came too slowly.
    #[error(
        "Your socket connection to the server was not read from or written to within the timeout period."
    )]
    RequestTimeout,
    /// The body's SHA-256 is not the one that was signed.
    #[error("The provided 'x-store-content-sha256' header does not match what was computed.")]
    ContentSha256Mismatch {
        /// The value that was sent.
        client: String,
        /// The value that was computed.
        server: String,
    },
    /// The body's MD5 is not the one that was sent.
    #[error("The Content-MD5 you specified did not match what we received.")]
    Md5Mismatch {
        /// The value that was sent: in hexadecimal digits of the body of an object, base64 of a document, as the real service shows it.
        expected: String,
        /// The value that was computed, base64.
        calculated: String,
    },
    /// The body's checksum is not the one that was sent.
    #[error("The {algorithm} you specified did not match the calculated checksum.")]
    ChecksumMismatch {
        /// The algorithm, in capitals.
        algorithm: &'static str,
    },
    /// Spec §7: the checksum sent is not of the algorithm that `x-store-sdk-checksum-algorithm` names.
    #[error(
        "The checksum value does not match the algorithm named in x-store-sdk-checksum-algorithm."
    )]
    ChecksumOfAnotherAlgorithm,

    // A form.
    /// The body of a form is not one.
    #[error("The body of your POST request is not well-formed multipart/form-data.")]
    MalformedForm,
    /// The fields before the file are longer than a form has them.
    #[error("Your POST request fields preceding the upload file were too large.")]
    FormTooLong {
        /// The most bytes that they may have.
        most: usize,
    },
    /// The credential of a form cannot be read, or its scope is not this service's.
    #[error("{reason}")]
    InvalidFormCredential {
        /// The field.
        name: String,
        /// Its value.
        value: String,
        /// The fault.
        reason: String,
        /// The region that was expected, where that is the fault.
        region: Option<String>,
    },
    /// The policy of a form is not one.
    #[error("Invalid Policy: {reason}")]
    InvalidPostPolicy {
        /// The fault.
        reason: String,
    },
    /// The form is not what its policy says.
    #[error("Invalid according to Policy: {reason}")]
    FormRefused {
        /// The fault.
        reason: String,
    },
    /// The file has fewer bytes than the policy asks for.
    #[error("Your proposed upload is smaller than the minimum allowed size")]
    FileTooSmall {
        /// Its bytes.
        proposed: u64,
        /// The least that it may have.
        least: u64,
    },

    // The commit.
    /// Spec §3: another write came between the start and the commit of a conditional one.
    #[error(
        "The conditional request cannot succeed due to a conflicting operation against this resource."
    )]
    ConditionalRequestConflict {
        /// The header that holds the condition.
        condition: &'static str,
        /// The key.
        key: String,
    },
    /// The bucket is being deleted, which may still find something in it.
    #[error(
        "A conflicting conditional operation is currently in progress against this resource. Please try again."
    )]
    OperationAborted,
    /// The store refused or failed; nothing is known to have been written.
    #[error("We encountered an internal error. Please try again.")]
    Store(#[source] StoreError),
    /// A body could not be written or read.
    #[error("We encountered an internal error. Please try again.")]
    Body(#[source] BlobError),
    /// A stored body does not decrypt to what was written.
    #[error("We encountered an internal error. Please try again.")]
    Damaged,
    /// A fault of this program, caught.
    #[error("We encountered an internal error. Please try again.")]
    Internal,
}
