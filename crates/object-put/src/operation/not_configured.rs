//! Features that no bucket has here. Tools that show, copy or empty a bucket ask for all of them: reads answer as for a bucket on which they
//! were never set, deletes find nothing to do, a document that switches one off is taken, and one that would set it is 501 and names the
//! operation.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::operation::bucket_config::{not_configured, xml_reply};
use crate::operation::{Call, ReadCall, Reply};
use crate::request::xml::{Element, XmlWriter};

/// The answer to a read of what was never set.
#[derive(Debug, Clone, Copy)]
enum NeverSet {
    /// 404 with this code and this sentence.
    Missing(&'static str, &'static str),
    /// An empty document with this root.
    Empty(&'static str),
    /// The last page of a list without entries, with this root.
    EmptyList(&'static str),
    /// A document with this root that says `Disabled`.
    Disabled(&'static str),
}

use NeverSet::{Disabled, Empty, EmptyList, Missing};

const NO_CONFIGURATION: NeverSet =
    Missing("NoSuchConfiguration", "The specified configuration does not exist.");
const NO_METADATA_TABLE: NeverSet =
    Missing("MetadataConfigurationNotFound", "The metadata configuration was not found");

/// The reads, and what each answers.
#[rustfmt::skip] // A table: one operation a line.
const READS: &[(&str, NeverSet)] = &[
    ("GetBucketAbac", Disabled("AbacStatus")),
    ("GetBucketAccelerateConfiguration", Empty("AccelerateConfiguration")),
    ("GetBucketAnalyticsConfiguration", NO_CONFIGURATION),
    ("ListBucketAnalyticsConfigurations", EmptyList("ListBucketAnalyticsConfigurationsResult")),
    ("GetBucketIntelligentTieringConfiguration", NO_CONFIGURATION),
    ("ListBucketIntelligentTieringConfigurations", EmptyList("ListIntelligentTieringConfigurationsResult")),
    ("GetBucketInventoryConfiguration", NO_CONFIGURATION),
    ("ListBucketInventoryConfigurations", EmptyList("ListInventoryConfigurationsResult")),
    ("GetBucketLogging", Empty("BucketLoggingStatus")),
    ("GetBucketMetadataConfiguration", NO_METADATA_TABLE),
    ("GetBucketMetadataTableConfiguration", NO_METADATA_TABLE),
    ("GetBucketMetricsConfiguration", NO_CONFIGURATION),
    ("ListBucketMetricsConfigurations", EmptyList("ListMetricsConfigurationsResult")),
    ("GetBucketNotificationConfiguration", Empty("NotificationConfiguration")),
    ("GetBucketReplication", Missing("ReplicationConfigurationNotFoundError", "The replication configuration was not found")),
];

/// Tells whether a document switches its feature off.
type SwitchesOff = fn(&Element) -> Result<bool, Error>;

/// The writes that a document may ask for which switches the feature off: the root of the document, and the test whether it does.
const SWITCHES: &[(&str, &str, SwitchesOff)] = &[
    ("PutBucketAbac", "AbacStatus", |root| says(root, "Disabled", "Enabled")),
    ("PutBucketAccelerateConfiguration", "AccelerateConfiguration", |root| {
        says(root, "Suspended", "Enabled")
    }),
    ("PutBucketLogging", "BucketLoggingStatus", |root| is_without(root, &["LoggingEnabled"], &[])),
    ("PutBucketNotificationConfiguration", "NotificationConfiguration", |root| {
        let often = ["TopicConfiguration", "QueueConfiguration", "CloudFunctionConfiguration"];
        is_without(root, &["EventBridgeConfiguration"], &often)
    }),
];

/// The deletes of what has an id: there is none with it.
const DELETES_BY_ID: &[&str] = &[
    "DeleteBucketAnalyticsConfiguration",
    "DeleteBucketIntelligentTieringConfiguration",
    "DeleteBucketInventoryConfiguration",
    "DeleteBucketMetricsConfiguration",
];

/// The state of an operation on such a feature, in the words of the page of operations; `None` for any other.
#[must_use]
pub fn state(operation: &str) -> Option<&'static str> {
    if READS.iter().any(|(name, _)| *name == operation) {
        return Some("never set");
    }
    if SWITCHES.iter().any(|(name, ..)| *name == operation) {
        return Some("501, but for off");
    }
    let deletes = ["DeleteBucketReplication"];
    (deletes.contains(&operation) || DELETES_BY_ID.contains(&operation))
        .then_some("nothing to delete")
}

/// Tells whether the status of a document is the one that switches off.
fn says(root: &Element, off: &str, on: &str) -> Result<bool, Error> {
    root.has_only(&["Status"], &[])?;
    match root.required("Status")? {
        status if status == off => Ok(true),
        status if status == on => Ok(false),
        _ => Err(Error::MalformedXml),
    }
}

/// Tells whether a document has none of the elements that it may have.
fn is_without(root: &Element, once: &[&str], often: &[&str]) -> Result<bool, Error> {
    root.has_only(once, often)?;
    Ok(root.children.is_empty())
}

/// A read of what was never set.
///
/// # Errors
/// `NotConfigured`, where that is the answer; `MalformedContinuationToken` for a list that would go on.
pub fn read(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let mut rows = READS.iter();
    let (_, answer) = rows.find(|(name, _)| *name == call.operation.name).ok_or(Error::Internal)?;
    let page = |writer: &mut XmlWriter| writer.text("IsTruncated", false);
    // None was ever given.
    let has_token = call.query.get("continuation-token").is_some_and(|token| !token.is_empty());
    match *answer {
        Missing(code, reason) => Err(not_configured(call, code, reason)),
        Empty(root) => Ok(xml_reply(call, root, |_| {})),
        EmptyList(_) if has_token => Err(Error::MalformedContinuationToken),
        EmptyList(root) => Ok(xml_reply(call, root, page)),
        Disabled(root) => Ok(xml_reply(call, root, |writer| writer.text("Status", "Disabled"))),
    }
}

/// A document that may switch a feature off, which it is.
///
/// # Errors
/// `MalformedXml`; `OperationNotImplemented` for one that would set it.
pub fn switch(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let name = call.operation.name;
    let row = SWITCHES.iter().find(|(own, ..)| *own == name).ok_or(Error::Internal)?;
    let (_, root, is_off) = row;
    match is_off(&Element::parse(call.body, root)?)? {
        true => Ok(Reply::empty(200)),
        false => Err(Error::OperationNotImplemented { operation: name }),
    }
}

/// Deletes what has an id, and is not there.
///
/// # Errors
/// `NotConfigured`, always.
pub fn delete_by_id(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    Err(not_configured(call, "NoSuchConfiguration", "The specified configuration does not exist."))
}

/// Deletes what no bucket has.
///
/// # Errors
/// Those of the way to it alone.
pub fn delete(_call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    Ok(Reply::empty(204))
}
