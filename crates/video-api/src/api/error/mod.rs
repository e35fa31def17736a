//! Refusals of requests: one enum, in the order in which the checks run. Status, reason, domain and place of
//! each stand in [`Error::detail`] and nowhere else.
//!
//! Rows marked "ours" are where neither the spec nor the real service says; docs/video-api.md lists them.

mod fault;
mod rule;

pub use rule::Rule;
pub(crate) use rule::rules;

use std::borrow::Cow;

use triptych_core::error::{Coded, Row};
use triptych_core::kv::StoreError;

use crate::upload::session::SessionError;

/// The place of a fault in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Nowhere in particular.
    None,
    /// A query parameter.
    Parameter(Cow<'static, str>),
    /// All parameters together.
    Parameters,
    /// A header.
    Header(&'static str),
    /// A field of the body, as a path.
    Body(Cow<'static, str>),
}

/// The fields of an error body beside the sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// Status and reason.
    pub row: Row,
    /// The domain of the reason.
    pub domain: &'static str,
    /// The place of the fault.
    pub place: Place,
}

/// The refusals of a request. Declared in the order of the checks: the first that applies is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    // The connection.
    /// `Expect` names something else than 100-continue.
    #[error("A client expectation cannot be met by the server: it is 100-continue alone.")]
    ExpectationFailed,

    // The target.
    /// Nothing is served under this path.
    #[error("Not Found")]
    UnknownPath,
    /// The path is there, with other methods.
    #[error("This path does not take the method {method}; it takes {allowed}.")]
    MethodNotAllowed {
        /// The method of the request.
        method: String,
        /// The methods that it takes.
        allowed: String,
    },
    /// An upload that was sent to the path without `/upload`.
    #[error("This is an upload; send it to the path with /upload before it.")]
    WrongUrlForUpload,
    /// The operation was withdrawn from the interface (Spec §9).
    #[error("{0} is deprecated and no longer supported.")]
    Unsupported(&'static str),
    /// A row of the table whose handler is not built yet.
    #[error("{0} is not implemented.")]
    NotImplemented(&'static str),

    // What every operation takes.
    /// A parameter that the operation does not know, under `--strict`.
    #[error("Unknown parameter: '{0}'.")]
    UnknownParameter(String),
    /// `alt=proto`: answers are JSON alone.
    #[error("The output format proto is not supported; use json.")]
    OutputFormat,
    /// `alt` names a form that this operation has not.
    #[error("Invalid string value: '{alt}'. Allowed values: [{allowed}]")]
    AltUnsupported {
        /// The form that is named.
        alt: String,
        /// The forms that the operation has.
        allowed: &'static str,
    },
    /// `fields` cannot be read, or names what the answer has not.
    #[error("Invalid field selection {0}")]
    InvalidFields(String),

    // Who asks.
    /// The API key is none of ours.
    #[error("API key not valid. Please pass a valid API key.")]
    KeyInvalid,
    /// The token is none of ours, or has ended.
    #[error("Invalid Credentials")]
    InvalidCredentials,
    /// The account of the token was closed.
    #[error("The account of the authenticated user is closed.")]
    AccountClosed,
    /// Neither key nor token.
    #[error("The request is missing a valid API key.")]
    Unregistered,
    /// A token is needed and none was sent.
    #[error("Login Required.")]
    LoginRequired,
    /// A parameter asks for somebody's own data, and no token says whose.
    #[error("The request uses the <code>{0}</code> parameter but is not properly authorized.")]
    AuthorizationRequired(&'static str),
    /// The token has none of the operation's scopes.
    #[error("Request had insufficient authentication scopes.")]
    InsufficientScopes,
    /// The account of the token has no channel.
    #[error("The authenticated user has no channel.")]
    NoChannel,
    /// The project's units of the day are used up.
    #[error(
        "The request cannot be completed because you have exceeded your <a href=\"/youtube/v3/getting-started#quota\">quota</a>."
    )]
    QuotaExceeded,

    // Parameters.
    /// A parameter that the interface withdrew, and that a client cannot do without: its answer would be another one.
    #[error("Request contains an invalid argument. The parameter {0} is no longer supported.")]
    WithdrawnParameter(&'static str),
    /// A required parameter is missing.
    #[error("Required parameter: {0}")]
    Required(&'static str),
    /// A parameter that is no list is given twice. Ours.
    #[error("The parameter {0} can be given only once.")]
    Repeated(&'static str),
    /// A parameter cannot be read as its type.
    #[error("Invalid {kind} value: '{value}'")]
    InvalidValue {
        /// The parameter.
        name: &'static str,
        /// The type's name.
        kind: &'static str,
        /// The value that was given.
        value: String,
    },
    /// A number out of its range.
    #[error("Invalid value '{value}'. Values must be within the range: [{least}, {most}]")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// The least allowed.
        least: i64,
        /// The most allowed.
        most: i64,
    },
    /// A value that the list of the parameter does not hold.
    #[error("Invalid string value: '{value}'. Allowed values: [{}]", .allowed.join(", "))]
    UnknownValue {
        /// The parameter.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// The values that may be given.
        allowed: &'static [&'static str],
    },
    /// A part that the resource has not.
    #[error("'{0}'")]
    UnknownPart(String),
    /// A part that this operation cannot write, or one that the body holds and `part` does not name.
    #[error("'{0}'")]
    UnexpectedPart(String),
    /// No filter, where one is needed.
    #[error("No filter selected. Expected one of: {}", .0.join(", "))]
    NoFilter(&'static [&'static str]),
    /// Two filters, where one is taken.
    #[error("Incompatible parameters specified in the request: {0}")]
    IncompatibleParameters(String),
    /// A parameter names more ids than one request may.
    #[error("The request specifies an invalid filter parameter.")]
    TooManyIds,
    /// A page token of another request, or none of ours.
    #[error("The request specifies an invalid page token.")]
    InvalidPageToken,
    /// A parameter or a field of the body is no language tag.
    #[error("'{0}' is not a language code.")]
    InvalidLanguage(String, Place),
    /// It names no language of ours.
    #[error("'{0}' is not a supported language code.")]
    UnsupportedLanguage(String, Place),
    /// `callback` is no JavaScript name.
    #[error("'{0}' is not the name of a JavaScript function.")]
    InvalidCallback(String),
    /// `regionCode` is no region code.
    #[error("'{0}' is not a region code: two letters of ISO 3166-1.")]
    InvalidRegion(String),
    /// `regionCode` names no region of ours.
    #[error("'{0}' is not a supported region code.")]
    UnsupportedRegion(String),

    // The body.
    /// The body is packed in a way that is not taken.
    #[error("A body with Content-Encoding {0} is not supported; send it as it is, or as gzip.")]
    UnsupportedEncoding(String),
    /// The body is no JSON.
    #[error("Parse Error: {0}")]
    ParseError(String),
    /// A field of the body has the wrong type.
    #[error("Invalid value at '{path}' ({expected})")]
    InvalidField {
        /// The place.
        path: String,
        /// The type that is expected there.
        expected: &'static str,
    },
    /// A field of the body is needed. The text is the path.
    #[error("Required")]
    RequiredField(&'static str),
    /// Media is needed and none was sent.
    #[error("The request does not include the media to upload.")]
    MediaBodyRequired,
    /// The media type is none that the operation takes.
    #[error("Media type '{0}' is not supported. Valid media types: [{1}]")]
    BadContent(String, String),
    /// The body is longer than the operation takes.
    #[error("The body is longer than the {0} bytes that this operation takes.")]
    UploadTooLarge(u64),
    /// A third part, where there are metadata and media.
    #[error(
        "The multipart request failed because it contains too many parts: metadata and media are two."
    )]
    TooManyParts,
    /// An upload path for an operation that takes no media.
    #[error("This operation takes no media; send it to the path without /upload.")]
    NotUpload,
    /// A download path for an operation that gives no media.
    #[error(
        "Only media downloads can be sent to /download; send this request to the path without it."
    )]
    NotDownload,
    /// `uploadType` is none.
    #[error("'{0}' is not an upload protocol; use media, multipart or resumable.")]
    UnsupportedMediaProtocol(String),
    /// The body broke off or came too slowly.
    #[error("The request body ended early.")]
    BodyBroken,
    /// A batch within a batch, an upload, or a download.
    #[error(
        "A batch takes neither batches nor uploads nor downloads; send this request by itself."
    )]
    NotInBatch,
    /// A batch holds too many requests.
    #[error("The batch holds more than {0} requests.")]
    BatchTooLarge(usize),

    /// A request to an upload session that cannot be taken.
    #[error(transparent)]
    Session(SessionError),

    // The resource.
    /// A rule of the resource is broken: something is not there, not the caller's to do, or not what it has to be.
    #[error("{}", .0.sentence())]
    Rule(&'static Rule),
    /// `If-Match` names another version.
    #[error("Precondition Failed")]
    ConditionNotMet,
    /// Too many requests fought over one record; nothing was written.
    #[error("The request was aborted by other writes to the same resource; try again.")]
    Contended,

    /// A resource would be longer than any that is kept.
    #[error("The request is too large: {count} {what} are more than the {most} of a resource.")]
    ResourceTooLarge {
        /// The things that were counted.
        what: &'static str,
        /// Their count.
        count: usize,
        /// The greatest count that is taken.
        most: usize,
    },
    /// `Range` names no byte of what is downloaded.
    #[error("The requested range cannot be satisfied.")]
    RangeNotSatisfiable,

    // The service.
    /// The disk or the store failed.
    #[error("Backend Error")]
    Backend(StoreError),
}

impl Place {
    /// A query parameter by its name.
    #[must_use]
    pub const fn parameter(name: &'static str) -> Self {
        Self::Parameter(Cow::Borrowed(name))
    }

    /// The domain of a language that is none: of parameters, or of all bodies.
    const fn language_domain(&self) -> &'static str {
        match self {
            Self::Parameter(_) => "youtube.parameter",
            _ => "global",
        }
    }

    /// A field of the body by its path.
    #[must_use]
    pub const fn body(path: &'static str) -> Self {
        Self::Body(Cow::Borrowed(path))
    }
}

impl Detail {
    const fn new(status: u16, domain: &'static str, reason: &'static str, place: Place) -> Self {
        Self { row: Row::of(status, reason), domain, place }
    }
}

impl Error {
    /// Status, reason, domain and place: all that an error body says beside the sentence.
    #[must_use]
    pub fn detail(&self) -> Detail {
        let of = Detail::new;
        match self {
            Self::ExpectationFailed => {
                of(417, "global", "expectationFailed", Place::Header("Expect"))
            }
            Self::UnknownPath => of(404, "global", "notFound", Place::None),
            Self::MethodNotAllowed { .. } => of(405, "global", "httpMethodNotAllowed", Place::None),
            Self::WrongUrlForUpload => of(400, "global", "wrongUrlForUpload", Place::None),
            Self::Unsupported(_) => of(410, "global", "deleted", Place::None),
            Self::NotImplemented(_) => of(501, "global", "notImplemented", Place::None),
            Self::UnknownParameter(name) => of(
                400,
                "youtube.parameter",
                "unexpectedParameter",
                Place::Parameter(name.clone().into()),
            ),
            Self::OutputFormat => {
                of(400, "global", "unsupportedOutputFormat", Place::parameter("alt"))
            }
            Self::AltUnsupported { .. } => {
                of(400, "global", "invalidAltValue", Place::parameter("alt"))
            }
            Self::InvalidFields(_) => {
                of(400, "global", "invalidParameter", Place::parameter("fields"))
            }
            Self::KeyInvalid => of(400, "usageLimits", "keyInvalid", Place::parameter("key")),
            Self::InvalidCredentials => {
                of(401, "global", "authError", Place::Header("Authorization"))
            }
            Self::AccountClosed => {
                of(403, "youtube.common", "authenticatedUserAccountClosed", Place::None)
            }
            Self::Unregistered => of(403, "global", "forbidden", Place::None),
            Self::LoginRequired => of(401, "global", "required", Place::Header("Authorization")),
            Self::AuthorizationRequired(name) => {
                of(401, "youtube.common", "authorizationRequired", Place::parameter(name))
            }
            Self::InsufficientScopes => of(403, "global", "insufficientPermissions", Place::None),
            Self::NoChannel => {
                of(401, "youtube.header", "youtubeSignupRequired", Place::Header("Authorization"))
            }
            Self::QuotaExceeded => of(403, "youtube.quota", "quotaExceeded", Place::None),
            Self::WithdrawnParameter(name) => {
                of(400, "global", "badRequest", Place::parameter(name))
            }
            Self::Required(name) => of(400, "global", "required", Place::parameter(name)),
            Self::Repeated(name)
            | Self::InvalidValue { name, .. }
            | Self::OutOfRange { name, .. }
            | Self::UnknownValue { name, .. } => {
                of(400, "global", "invalidParameter", Place::parameter(name))
            }
            Self::UnknownPart(_) => {
                of(400, "youtube.part", "unknownPart", Place::parameter("part"))
            }
            Self::UnexpectedPart(_) => {
                of(400, "youtube.part", "unexpectedPart", Place::parameter("part"))
            }
            Self::NoFilter(_) => {
                of(400, "youtube.parameter", "missingRequiredParameter", Place::parameter(""))
            }
            Self::IncompatibleParameters(_) => {
                of(400, "youtube.parameter", "incompatibleParameters", Place::parameter(""))
            }
            Self::TooManyIds => of(400, "youtube.parameter", "invalidFilters", Place::Parameters),
            Self::InvalidPageToken => {
                of(400, "youtube.parameter", "invalidPageToken", Place::parameter("pageToken"))
            }
            Self::InvalidLanguage(_, place) => {
                of(400, place.language_domain(), "invalidLanguage", place.clone())
            }
            Self::UnsupportedLanguage(_, place) => {
                of(400, place.language_domain(), "unsupportedLanguageCode", place.clone())
            }
            Self::InvalidCallback(_) => {
                of(400, "global", "invalidParameter", Place::parameter("callback"))
            }
            Self::InvalidRegion(_) => {
                of(400, "youtube.parameter", "invalidRegionCode", Place::parameter("regionCode"))
            }
            Self::UnsupportedRegion(_) => of(
                400,
                "youtube.parameter",
                "unsupportedRegionCode",
                Place::parameter("regionCode"),
            ),
            Self::UnsupportedEncoding(_) => {
                of(415, "global", "unsupportedMediaType", Place::Header("Content-Encoding"))
            }
            Self::ParseError(_) => of(400, "global", "parseError", Place::None),
            Self::InvalidField { path, .. } => {
                of(400, "global", "invalid", Place::Body(path.clone().into()))
            }
            Self::RequiredField(path) => of(400, "global", "required", Place::body(path)),
            Self::MediaBodyRequired => of(400, "youtube.media", "mediaBodyRequired", Place::None),
            Self::BadContent(..) => of(400, "global", "badContent", Place::None),
            Self::UploadTooLarge(_) => of(413, "global", "uploadTooLarge", Place::None),
            Self::TooManyParts => of(400, "global", "tooManyParts", Place::None),
            Self::NotUpload => of(400, "global", "notUpload", Place::None),
            Self::NotDownload => of(400, "global", "notDownload", Place::None),
            Self::UnsupportedMediaProtocol(_) => {
                of(400, "global", "unsupportedMediaProtocol", Place::parameter("uploadType"))
            }
            Self::BodyBroken => of(400, "global", "badRequest", Place::None),
            Self::NotInBatch => of(400, "global", "badRequest", Place::None),
            Self::BatchTooLarge(_) => of(413, "global", "batchSizeTooLarge", Place::None),
            Self::Session(error) => {
                Detail { row: error.row(), domain: "global", place: Place::None }
            }
            Self::Rule(rule) => rule.detail(),
            Self::ConditionNotMet => {
                of(412, "global", "conditionNotMet", Place::Header("If-Match"))
            }
            Self::ResourceTooLarge { .. } => {
                of(413, "global", "backendRequestTooLarge", Place::None)
            }
            Self::RangeNotSatisfiable => {
                of(416, "global", "requestedRangeNotSatisfiable", Place::Header("Range"))
            }
            Self::Contended => of(409, "global", "conflict", Place::None),
            Self::Backend(_) => of(503, "global", "backendError", Place::None),
        }
    }

    /// The sentence of the whole body, where the real service has another one there than beside the reason.
    #[must_use]
    pub const fn summary(&self) -> Option<&'static str> {
        match self {
            Self::InvalidCredentials => Some(
                "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
            ),
            Self::LoginRequired => Some(
                "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
            ),
            _ => None,
        }
    }

    /// The canonical name of the status, as newer error bodies carry it.
    #[must_use]
    pub fn canonical(status: u16) -> &'static str {
        match status {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 | 410 => "NOT_FOUND",
            409 => "ABORTED",
            412 | 428 => "FAILED_PRECONDITION",
            416 => "OUT_OF_RANGE",
            429 => "RESOURCE_EXHAUSTED",
            501 => "UNIMPLEMENTED",
            503 => "UNAVAILABLE",
            405 => "UNIMPLEMENTED",
            400..=499 => "INVALID_ARGUMENT",
            _ => "INTERNAL",
        }
    }
}

impl Error {
    /// The reason that a status has where nothing more is known (the interface's list of core errors).
    #[must_use]
    pub const fn usual_reason(status: u16) -> &'static str {
        match status {
            401 => "authError",
            403 => "forbidden",
            404 => "notFound",
            405 => "httpMethodNotAllowed",
            409 => "conflict",
            410 => "deleted",
            412 => "conditionNotMet",
            413 => "uploadTooLarge",
            415 => "unsupportedMediaType",
            416 => "requestedRangeNotSatisfiable",
            417 => "expectationFailed",
            428 => "preconditionRequired",
            429 => "rateLimitExceeded",
            501 => "notImplemented",
            503 => "backendError",
            400..=499 => "badRequest",
            _ => "internalError",
        }
    }

    /// The domain of a reason that was asked for by name: limits on use have one of their own.
    #[must_use]
    pub fn usual_domain(reason: &str) -> &'static str {
        match reason {
            "quotaExceeded" => "youtube.quota",
            _ if reason.ends_with("LimitExceeded") || reason.ends_with("LimitExceededUnreg") => {
                "usageLimits"
            }
            _ => "global",
        }
    }
}

impl Coded for Error {
    fn row(&self) -> Row {
        self.detail().row
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict => Self::Contended,
            StoreError::LimitExceeded { what, count, most } => {
                Self::ResourceTooLarge { what, count, most }
            }
            other => Self::Backend(other),
        }
    }
}

impl From<SessionError> for Error {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Store(error) => Self::from(error),
            other => Self::Session(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_a_missing_filter_names_the_filters() {
        let error = Error::NoFilter(&["id", "mine"]);
        assert_eq!(error.to_string(), "No filter selected. Expected one of: id, mine");
        assert_eq!(error.row(), Row::of(400, "missingRequiredParameter"));
    }
}
