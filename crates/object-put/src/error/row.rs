//! The table behind [`Error`]: status and code.

use std::borrow::Cow;

use triptych_core::blobs::BlobError;
use triptych_core::error::{Coded, Row};
use triptych_core::kv::StoreError;

use crate::error::{Error, KmsFault};
use crate::request::dialect::MixedDialects;

impl Coded for Error {
    fn row(&self) -> Row {
        match self {
            Self::MixedDialects => Row::of(400, "InvalidRequest"), // chosen here
            Self::InvalidUri => Row::of(400, "InvalidURI"),
            Self::KeyTooLong { .. } => Row::of(400, "KeyTooLongError"),
            Self::HeaderSectionTooLarge { .. } => Row::of(400, "RequestHeaderSectionTooLarge"),
            Self::MethodNotAllowed { .. } => Row::of(405, "MethodNotAllowed"),
            Self::MalformedContinuationToken => Row::of(400, "MalformedContinuationToken"),
            Self::NoLoggingStatusForKey => Row::of(400, "NoLoggingStatusForKey"),
            Self::UserKeyMustBeSpecified => Row::of(400, "UserKeyMustBeSpecified"),
            Self::OperationNotImplemented { .. } | Self::ParameterNotImplemented { .. } => {
                Row::of(501, "NotImplemented")
            }
            Self::Unknown { .. } => Row::of(400, "InvalidRequest"), // chosen here
            Self::UnsupportedAuthorization => Row::of(400, "InvalidRequest"),
            Self::SeveralAuthorizations => Row::of(400, "InvalidArgument"),
            Self::AuthorizationHeaderMalformed { .. } => {
                Row::of(400, "AuthorizationHeaderMalformed")
            }
            Self::AuthorizationQueryParameters { .. } => {
                Row::of(400, "AuthorizationQueryParametersError")
            }
            Self::MissingQueryParameters | Self::MissingDate => Row::of(403, "AccessDenied"),
            Self::InvalidAccessKeyId { .. } => Row::of(403, "InvalidAccessKeyId"),
            Self::InvalidToken => Row::of(400, "InvalidToken"),
            Self::ExpiredToken => Row::of(400, "ExpiredToken"),
            Self::RequestTimeTooSkewed { .. } => Row::of(403, "RequestTimeTooSkewed"),
            Self::InvalidExpires { .. }
            | Self::RequestExpired { .. }
            | Self::RequestNotYetValid { .. } => Row::of(403, "AccessDenied"),
            Self::HeadersNotSigned { .. } => Row::of(403, "AccessDenied"),
            Self::MissingContentSha256 => Row::of(400, "InvalidRequest"),
            Self::InvalidContentSha256 { .. } => Row::of(400, "InvalidArgument"),
            Self::SignatureDoesNotMatch(_) => Row::of(403, "SignatureDoesNotMatch"),
            Self::InvalidBucketName { .. } => Row::of(400, "InvalidBucketName"),
            Self::NoSuchBucket { .. } => Row::of(404, "NoSuchBucket"),
            Self::NoSuchAccessPoint { .. } => Row::of(404, "NoSuchAccessPoint"),
            Self::InvalidBucketOwner { .. } => Row::of(400, "InvalidBucketOwnerAWSAccountID"),
            Self::AccessDenied | Self::AnonymousUpload | Self::ObjectLocked => {
                Row::of(403, "AccessDenied")
            }
            Self::MissingOrigin | Self::InvalidPreflight { .. } => Row::of(400, "BadRequest"),
            Self::CrossOrigin { .. } => Row::of(403, "AccessForbidden"),
            Self::BucketAlreadyExists { .. } => Row::of(409, "BucketAlreadyExists"),
            Self::BucketAlreadyOwnedByYou { .. } => Row::of(409, "BucketAlreadyOwnedByYou"),
            Self::BucketNotEmpty { .. } => Row::of(409, "BucketNotEmpty"),
            Self::NoVersioningState => Row::of(400, "IllegalVersioningConfigurationException"),
            Self::InvalidBucketState { .. } => Row::of(409, "InvalidBucketState"),
            Self::HeaderNotImplemented { .. } => Row::of(501, "NotImplemented"),
            Self::AccessControlListNotSupported => Row::of(400, "AccessControlListNotSupported"),
            Self::BucketAclWithOwnership => Row::of(400, "InvalidBucketAclWithObjectOwnership"),
            Self::BucketAclWithPublicAccessBlock => {
                Row::of(400, "InvalidBucketAclWithBlockPublicAccessError")
            }
            Self::IllegalLocationConstraint { .. } => {
                Row::of(400, "IllegalLocationConstraintException")
            }
            Self::InvalidLocationConstraint { .. } => Row::of(400, "InvalidLocationConstraint"),
            Self::InvalidArgument { .. } => Row::of(400, "InvalidArgument"),
            Self::InvalidEncryptionAlgorithm { .. } => {
                Row::of(400, "InvalidEncryptionAlgorithmError")
            }
            Self::InvalidRequest { .. } => Row::of(400, "InvalidRequest"),
            Self::UnresolvableGrantByEmailAddress { .. } => {
                Row::of(400, "UnresolvableGrantByEmailAddress")
            }
            Self::MissingSecurityHeader { .. } => Row::of(400, "MissingSecurityHeader"),
            Self::InvalidDigest { .. } => Row::of(400, "InvalidDigest"),
            Self::InvalidStorageClass { .. } => Row::of(400, "InvalidStorageClass"),
            Self::InvalidRedirectLocation => Row::of(400, "InvalidRedirectLocation"),
            Self::InvalidTag { .. } => Row::of(400, "InvalidTag"),
            Self::TooManyTags { .. } => Row::of(400, "BadRequest"),
            Self::MetadataTooLarge { .. } => Row::of(400, "MetadataTooLarge"),
            Self::MissingContentLength => Row::of(411, "MissingContentLength"),
            Self::EntityTooLarge { .. } => Row::of(400, "EntityTooLarge"),
            Self::MessageTooLong { .. } => Row::of(400, "MaxMessageLengthExceeded"),
            Self::UnexpectedContent => Row::of(400, "UnexpectedContent"),
            Self::NoSuchKey { .. } | Self::Deleted { .. } => Row::of(404, "NoSuchKey"),
            Self::IsDeleteMarker { .. } => Row::of(405, "MethodNotAllowed"),
            Self::NoSuchVersion { .. } => Row::of(404, "NoSuchVersion"),
            Self::NoSuchUpload { .. } => Row::of(404, "NoSuchUpload"),
            Self::NotConfigured { code, .. } => Row::of(404, code),
            Self::PreconditionFailed { .. } => Row::of(412, "PreconditionFailed"),
            Self::KeyPreconditionFailed => Row::of(412, "412 Precondition Failed"),
            Self::Kms { fault, .. } => Row::of(
                400,
                match fault {
                    KmsFault::NotFound => "KMS.NotFoundException",
                    KmsFault::Disabled => "KMS.DisabledException",
                    KmsFault::InvalidState => "KMS.KMSInvalidStateException",
                    KmsFault::InvalidKeyUsage => "KMS.InvalidKeyUsageException",
                },
            ),
            Self::KeyServiceFailed { .. } => Row::of(503, "ServiceUnavailable"),
            Self::CustomerKeysBlocked | Self::WrongCustomerKey => Row::of(403, "AccessDenied"),
            Self::InvalidWriteOffset => Row::of(400, "InvalidWriteOffset"),
            Self::EncryptionTypeMismatch => Row::of(400, "EncryptionTypeMismatch"),
            Self::TooManyParts { .. } => Row::of(400, "TooManyParts"),
            Self::InvalidRange { .. } => Row::of(416, "InvalidRange"),
            Self::InvalidPartNumber { .. } => Row::of(416, "InvalidPartNumber"),
            Self::RestoreAlreadyInProgress => Row::of(409, "RestoreAlreadyInProgress"),
            Self::InvalidObjectState { .. } | Self::NotArchived { .. } => {
                Row::of(403, "InvalidObjectState")
            }
            Self::InvalidPartOrder { .. } => Row::of(400, "InvalidPartOrder"),
            Self::InvalidPart { .. } => Row::of(400, "InvalidPart"),
            Self::EntityTooSmall { .. } => Row::of(400, "EntityTooSmall"),
            Self::MalformedXml => Row::of(400, "MalformedXML"),
            Self::MissingRequestBody => Row::of(400, "MissingRequestBodyError"),
            Self::MalformedAcl => Row::of(400, "MalformedACLError"),
            Self::MalformedPolicy { .. } => Row::of(400, "MalformedPolicy"),
            Self::BodyTerminated { .. } => Row::of(400, "IncompleteBody"),
            Self::InvalidChunkSize { .. } => Row::of(403, "InvalidChunkSizeError"),
            Self::MalformedTrailer => Row::of(400, "MalformedTrailerError"),
            Self::IncompleteBody { .. } => Row::of(400, "IncompleteBody"),
            Self::RequestTimeout => Row::of(400, "RequestTimeout"),
            Self::ContentSha256Mismatch { .. } => Row::of(400, "XAmzContentSHA256Mismatch"),
            Self::DigestMismatch { .. }
            | Self::Md5Mismatch { .. }
            | Self::ChecksumMismatch { .. }
            | Self::ChecksumOfAnotherAlgorithm => Row::of(400, "BadDigest"),
            Self::MalformedForm => Row::of(400, "MalformedPOSTRequest"),
            Self::FormTooLong { .. } => Row::of(400, "MaxPostPreDataLengthExceededError"),
            Self::InvalidFormCredential { .. } => Row::of(400, "InvalidArgument"),
            Self::InvalidPostPolicy { .. } => Row::of(400, "InvalidPolicyDocument"),
            Self::FormRefused { .. } => Row::of(403, "AccessDenied"),
            Self::FileTooSmall { .. } => Row::of(400, "EntityTooSmall"),
            Self::ConditionalRequestConflict { .. } => Row::of(409, "ConditionalRequestConflict"),
            Self::OperationAborted => Row::of(409, "OperationAborted"),
            Self::Store(StoreError::Conflict) => Row::of(503, "SlowDown"),
            Self::Store(StoreError::Unavailable(_) | StoreError::OutcomeUnknown)
            | Self::Body(BlobError::Unavailable(_) | BlobError::Full) => {
                Row::of(503, "ServiceUnavailable")
            }
            Self::Store(_) | Self::Body(_) | Self::Damaged | Self::Internal => {
                Row::of(500, "InternalError")
            }
        }
    }
}

impl Error {
    /// A value that `argument` may not have.
    #[must_use]
    pub fn argument(
        argument: impl Into<Cow<'static, str>>,
        value: Option<&str>,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::InvalidArgument {
            argument: argument.into(),
            value: value.map(str::to_owned),
            reason: reason.into(),
        }
    }

    /// A fault of a key-management key.
    #[must_use]
    pub const fn kms(fault: KmsFault, reason: String) -> Self {
        Self::Kms { fault, reason }
    }

    /// Tells whether it is not known if what was asked for happened.
    #[must_use]
    pub const fn is_outcome_unknown(&self) -> bool {
        matches!(self, Self::Store(StoreError::OutcomeUnknown))
    }

    /// A request that contradicts itself or is not what the operation takes.
    #[must_use]
    pub fn request(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::InvalidRequest { reason: reason.into() }
    }
}

impl From<MixedDialects> for Error {
    fn from(_: MixedDialects) -> Self {
        Self::MixedDialects
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<BlobError> for Error {
    fn from(error: BlobError) -> Self {
        Self::Body(error)
    }
}
