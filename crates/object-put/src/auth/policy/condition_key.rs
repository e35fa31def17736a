//! The values of a request that conditions can name.

use crate::auth::account::Caller;
use crate::auth::policy::request_object::{self, LockPart};
use crate::auth::policy::{PolicyRequest, upload_encryption};
use crate::auth::sigv4::{basic_time, header_time};
use crate::body::encryption::{KEY_HEADER, MODE_HEADER};
use crate::request::dialect::{
    directory_action, global_condition_key, neutral_encryption, spec_header, without_action_prefix,
};
use crate::request::query::Query;

/// A value of a request that conditions can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConditionKey {
    SecureTransport,
    TlsVersion,
    Referer,
    UserAgent,
    /// The address of the other end of the connection.
    SourceIp,
    CurrentTime,
    /// The same in seconds since 1970.
    EpochTime,
    PrincipalAccount,
    PrincipalArn,
    PrincipalType,
    UserId,
    /// The account that owns the bucket.
    ResourceAccount,
    /// The region that the request was sent to.
    RequestedRegion,
    /// The place in which the signature stands.
    AuthType,
    SignatureVersion,
    /// The milliseconds since the request was signed.
    SignatureAge,
    /// True for a request that makes an object, of those that the permission to put one lets through.
    ObjectCreation,
    /// A fact that is false of every request here: services of the provider send none.
    Never,
    /// One that no request has here: private networks, organizations, temporary identities.
    Unknown,
    /// A query parameter of a listing.
    Parameter(&'static str),
    /// The id of the version that the request is about.
    Version,
    /// A condition of HTTP that the request makes.
    Precondition(&'static str),
    /// A header of the service, by the spec's name.
    Header(String),
    /// A tag of the object that is there, by its key.
    ExistingTag(String),
    /// A tag that the request brings, by its key.
    RequestTag(String),
    /// The keys of all tags that it brings.
    RequestTagKeys,
    /// A part of the lock that it sets.
    Lock(LockPart),
    /// The mode of the session that is asked for.
    SessionMode,
    /// The ARN of the access point that the request came through.
    PointArn,
    /// The account of that access point.
    PointAccount,
    /// The network that that access point takes requests from.
    PointOrigin,
}

const IF_MATCH: &str = "if-match";

/// Names that no request has a value of here.
const UNKNOWN: [&str; 29] = [
    "AssumedRoot",
    "CalledVia",
    "CalledViaFirst",
    "CalledViaLast",
    "Ec2InstanceSourcePrivateIPv4",
    "Ec2InstanceSourceVpc",
    "FederatedProvider",
    "MultiFactorAuthAge",
    "MultiFactorAuthPresent",
    "PrincipalOrgID",
    "PrincipalOrgPaths",
    "PrincipalServiceName",
    "PrincipalServiceNamesList",
    "ResourceOrgID",
    "ResourceOrgPaths",
    "SourceAccount",
    "SourceArn",
    "SourceIdentity",
    "SourceOrgID",
    "SourceOrgPaths",
    "SourceVpc",
    "SourceVpcArn",
    "SourceVpce",
    "TokenIssueTime",
    "VpcSourceIp",
    "VpceAccount",
    "VpceOrgID",
    "VpceOrgPaths",
    "username",
];

/// Names that belong to no service.
const OF_ANY_SERVICE: [(&str, ConditionKey); 14] = [
    ("SecureTransport", ConditionKey::SecureTransport),
    ("Referer", ConditionKey::Referer),
    ("UserAgent", ConditionKey::UserAgent),
    ("SourceIp", ConditionKey::SourceIp),
    ("CurrentTime", ConditionKey::CurrentTime),
    ("EpochTime", ConditionKey::EpochTime),
    ("PrincipalAccount", ConditionKey::PrincipalAccount),
    ("PrincipalArn", ConditionKey::PrincipalArn),
    ("PrincipalType", ConditionKey::PrincipalType),
    ("userid", ConditionKey::UserId),
    ("ResourceAccount", ConditionKey::ResourceAccount),
    ("RequestedRegion", ConditionKey::RequestedRegion),
    ("PrincipalIsAWSService", ConditionKey::Never),
    ("ViaAWSService", ConditionKey::Never),
];

/// Names of this service.
const OF_THIS_SERVICE: [(&str, ConditionKey); 17] = [
    ("prefix", ConditionKey::Parameter("prefix")),
    ("delimiter", ConditionKey::Parameter("delimiter")),
    ("max-keys", ConditionKey::Parameter("max-keys")),
    ("VersionId", ConditionKey::Version),
    (IF_MATCH, ConditionKey::Precondition(IF_MATCH)),
    ("if-none-match", ConditionKey::Precondition("if-none-match")),
    ("ObjectCreationOperation", ConditionKey::ObjectCreation),
    ("RequestObjectTagKeys", ConditionKey::RequestTagKeys),
    ("object-lock-mode", ConditionKey::Lock(LockPart::Mode)),
    ("object-lock-retain-until-date", ConditionKey::Lock(LockPart::Until)),
    ("object-lock-remaining-retention-days", ConditionKey::Lock(LockPart::RemainingDays)),
    ("object-lock-legal-hold", ConditionKey::Lock(LockPart::Hold)),
    ("ResourceAccount", ConditionKey::ResourceAccount),
    ("TlsVersion", ConditionKey::TlsVersion),
    ("authType", ConditionKey::AuthType),
    ("signatureversion", ConditionKey::SignatureVersion),
    ("signatureAge", ConditionKey::SignatureAge),
];

/// Names that look at the access point, in whichever service's words.
const OF_POINTS: [(&str, ConditionKey); 3] = [
    ("DataAccessPointArn", ConditionKey::PointArn),
    ("DataAccessPointAccount", ConditionKey::PointAccount),
    ("AccessPointNetworkOrigin", ConditionKey::PointOrigin),
];

/// The row of a table with this name. Names are the same in upper and lower case.
fn named(table: &[(&str, ConditionKey)], name: &str) -> Option<ConditionKey> {
    let row = table.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
    row.map(|(_, key)| key.clone())
}

impl ConditionKey {
    /// The value of this name in either vocabulary. Of a name that goes on with the key of a tag, that alone is as it is written.
    pub(super) fn parse(key: &str) -> Option<Self> {
        let (name, tag) = match key.split_once('/') {
            Some((name, tag)) => (name.to_ascii_lowercase(), Some(tag)),
            None => (key.to_ascii_lowercase(), None),
        };
        if let Some(found) = global_condition_key(&name).and_then(|own| Self::global(own, tag)) {
            return Some(found);
        }
        let own_or_point =
            |own: &str| named(&OF_THIS_SERVICE, own).or_else(|| named(&OF_POINTS, own));
        if let Some(own) = directory_action(&name).filter(|_| tag.is_none()) {
            return match own.split_once(':')?.1 {
                "sessionmode" => Some(Self::SessionMode),
                own => own_or_point(own),
            };
        }
        let own = without_action_prefix(&name)?;
        match (own, tag) {
            ("existingobjecttag", Some(tag)) => Some(Self::ExistingTag(tag.to_owned())),
            ("requestobjecttag", Some(tag)) => Some(Self::RequestTag(tag.to_owned())),
            (own, None) => own_or_point(own).or_else(|| spec_header(own).map(Self::Header)),
            (_, Some(_)) => None,
        }
    }

    /// One that belongs to no service.
    fn global(own: &str, tag: Option<&str>) -> Option<Self> {
        match tag {
            Some(_) => (own == "principaltag").then_some(Self::Unknown),
            None if UNKNOWN.iter().any(|name| name.eq_ignore_ascii_case(own)) => {
                Some(Self::Unknown)
            }
            None => named(&OF_ANY_SERVICE, own),
        }
    }

    /// Tells whether its values are ARNs, which name the provider in either vocabulary.
    pub(super) const fn is_arn(&self) -> bool {
        matches!(self, Self::PointArn | Self::PrincipalArn)
    }

    /// Tells whether a variable can stand for it: it has one value at the most, the same one in either vocabulary, and is known without a
    /// look at the object that is there.
    pub(super) fn is_variable(&self) -> bool {
        let of_others = matches!(self, Self::RequestTagKeys | Self::ExistingTag(_));
        !of_others && !self.is_arn() && !self.is_of_encryption()
    }

    /// Tells whether its values differ in the two vocabularies.
    pub(super) fn is_of_encryption(&self) -> bool {
        matches!(self, Self::Header(name) if name.starts_with(MODE_HEADER))
    }

    /// Tells whether a fixed value of it keeps the world out.
    pub(super) fn narrows(&self) -> bool {
        match self {
            Self::SourceIp
            | Self::PrincipalAccount
            | Self::PrincipalArn
            | Self::UserId
            | Self::Unknown
            | Self::PointArn
            | Self::PointAccount => true,
            Self::Header(name) => name == KEY_HEADER,
            _ => false,
        }
    }

    /// Its values in a request; none where the request does not have it.
    pub(super) fn values(&self, request: &PolicyRequest<'_>) -> Vec<String> {
        match self {
            Self::RequestTagKeys => request_object::tags(request)
                .map(|tags| tags.keys().map(str::to_owned).collect())
                .unwrap_or_default(),
            _ => self.value(request).into_iter().collect(),
        }
    }

    fn value(&self, request: &PolicyRequest<'_>) -> Option<String> {
        let header = |name: &str| request.fields.get(name).ok().flatten();
        let account = request.caller.account().map(|account| account.id.as_str());
        match self {
            Self::SecureTransport => Some(request.arrival.secure.to_string()),
            // The least that this service takes.
            Self::TlsVersion => request.arrival.secure.then(|| "1.2".to_owned()),
            Self::Referer => header("referer").map(Into::into),
            Self::UserAgent => header("user-agent").map(Into::into),
            Self::SourceIp => request.arrival.address.map(|address| address.to_string()),
            Self::CurrentTime => Some(request.arrival.now.rfc3339()),
            Self::EpochTime => Some(request.arrival.now.seconds().to_string()),
            Self::PrincipalAccount => account.map(str::to_owned),
            Self::PrincipalArn => account.map(|id| format!(":{id}:root")),
            Self::PrincipalType => Some(account.map_or("Anonymous", |_| "Account").to_owned()),
            Self::UserId => Some(account.unwrap_or("anonymous").to_owned()),
            Self::ResourceAccount => Some(request.owner.to_owned()),
            Self::RequestedRegion => Some(request.region.to_owned()),
            Self::AuthType => auth_type(request).map(str::to_owned),
            Self::SignatureVersion => signature_version(request),
            Self::SignatureAge => signature_age(request),
            Self::ObjectCreation => {
                Some(makes_object(request.permission, request.query).to_string())
            }
            Self::Never => Some(false.to_string()),
            Self::Unknown | Self::RequestTagKeys => None,
            Self::Parameter(name) => request.query.get(name).map(str::to_owned),
            Self::SessionMode => request.session_mode.map(str::to_owned),
            Self::Version => request.version.map(str::to_owned),
            Self::Precondition(IF_MATCH) if request.etag.is_some() => {
                request.etag.map(str::to_owned)
            }
            Self::Precondition(name) => header(name).map(Into::into),
            Self::PointArn => request.point.map(|point| point.bare_arn(request.region)),
            Self::PointAccount => request.point.map(|point| point.account.clone()),
            Self::PointOrigin => request.point.map(|_| "Internet".to_owned()),
            Self::Header(name) if self.is_of_encryption() => {
                match request.upload.filter(|_| upload_encryption::is_told_once(name)) {
                    Some(encryption) => upload_encryption::value(encryption, name),
                    None => header(name).map(|value| neutral_encryption(&value)),
                }
            }
            Self::Header(name) => header(name).map(Into::into),
            Self::Lock(part) => request_object::lock(request, *part),
            Self::ExistingTag(key) => request.tags?.get(key).map(str::to_owned),
            Self::RequestTag(key) => request_object::tags(request)?.get(key).map(str::to_owned),
        }
    }
}

/// Tells whether a request with this permission makes an object: the beginning of an upload, and its parts, need the same.
fn makes_object(permission: &str, query: &Query) -> bool {
    permission == "store:PutObject" && !query.has("uploads") && !query.has("partNumber")
}

/// The place in which a signature stands; of a form, where neither the head nor the query has one.
fn auth_type(request: &PolicyRequest<'_>) -> Option<&'static str> {
    if matches!(request.caller, Caller::Anonymous) {
        return None;
    }
    if request.fields.has("authorization") {
        return Some("REST-HEADER");
    }
    let prefix = request.fields.dialect().names().query_prefix;
    let in_query = request.query.get_prefixed(prefix, "Signature").is_some();
    Some(if in_query || request.query.has("Signature") { "REST-QUERY-STRING" } else { "POST" })
}

/// The algorithm of the signature. Of a form it is not known: what asks for one refuses it.
fn signature_version(request: &PolicyRequest<'_>) -> Option<String> {
    match auth_type(request)? {
        "REST-HEADER" => {
            let header = request.fields.get("authorization").ok().flatten()?;
            header.split_ascii_whitespace().next().map(str::to_owned)
        }
        "REST-QUERY-STRING" => {
            let prefix = request.fields.dialect().names().query_prefix;
            let named = request.query.get_prefixed(prefix, "Algorithm");
            Some(named.unwrap_or("AWS").to_owned())
        }
        _ => None,
    }
}

fn signature_age(request: &PolicyRequest<'_>) -> Option<String> {
    let prefix = request.fields.dialect().names().query_prefix;
    let signed = match auth_type(request)? {
        "REST-HEADER" => header_time(request.fields).ok()?.0,
        "REST-QUERY-STRING" => basic_time(request.query.get_prefixed(prefix, "Date")?)?,
        _ => return None,
    };
    Some(request.arrival.now.since(signed).as_millis().to_string())
}
