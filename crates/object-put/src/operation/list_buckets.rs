//! `ListBuckets` and `ListDirectoryBuckets`.

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::auth::acl::user_fields;
use crate::error::Error;
use crate::operation::list_parameters::{out_of_range, whole, wrong_token};
use crate::operation::{ReadCall, Reply};
use crate::request::xml::XmlWriter;
use crate::store::bucket::{Bucket, BucketKind};
use crate::store::list::{PAGE_MAX, StartAfter};
use crate::store::lookup::account_directory;
use crate::store::tables::BUCKETS;

/// The most buckets of a page of `ListBuckets`.
const BUCKETS_MAX: i32 = 10_000;
/// The most buckets of a page of `ListDirectoryBuckets`.
const DIRECTORIES_MAX: i32 = 1_000;

/// The parameters of a page of `ListBuckets`.
const PAGED: [&str; 4] = ["max-buckets", "prefix", "continuation-token", "bucket-region"];

/// The regions of the real service: an area, and its places.
#[rustfmt::skip] // A table: one area a line.
const REGIONS: [(&str, &[&str]); 14] = [
    ("af", &["south-1"]),
    ("ap", &["east-1", "east-2", "northeast-1", "northeast-2", "northeast-3", "south-1", "south-2", "southeast-1", "southeast-2", "southeast-3", "southeast-4", "southeast-5", "southeast-6", "southeast-7"]),
    ("ca", &["central-1", "west-1"]),
    ("cn", &["north-1", "northwest-1"]),
    ("eu", &["central-1", "central-2", "north-1", "south-1", "south-2", "west-1", "west-2", "west-3"]),
    ("eusc", &["de-east-1"]),
    ("il", &["central-1"]),
    ("me", &["central-1", "south-1"]),
    ("mx", &["central-1"]),
    ("sa", &["east-1", "west-1"]),
    ("us", &["east-1", "east-2", "west-1", "west-2"]),
    ("us-gov", &["east-1", "west-1"]),
    ("us-iso", &["east-1", "west-1"]),
    ("us-isob", &["east-1", "west-1"]),
];

/// The buckets that a page shows.
struct Wanted<'c> {
    owner: &'c str,
    kind: BucketKind,
    prefix: &'c str,
    region: Option<&'c str>,
    most: usize,
}

impl Wanted<'_> {
    /// The page after the name that the request's token holds, and the token of the next. Buckets of all accounts stand in one table, so a
    /// page may read past those of others.
    fn page(
        &self,
        call: &ReadCall<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(Vec<Bucket>, Option<String>), Error> {
        let token = call.query.get("continuation-token").filter(|token| !token.is_empty());
        let after = match token.map(StartAfter::from_token) {
            None => String::new(),
            Some(Some(StartAfter::Key(name))) => name,
            Some(_) => return Err(wrong_token()),
        };
        let mut span = BUCKETS.span(&());
        triptych_core::kv::text_prefix(self.prefix.as_bytes(), &mut span.prefix);
        span.from = (!after.is_empty()).then(|| BUCKETS.key(&after).to_vec());
        let mut own: Vec<Bucket> = Vec::new();
        loop {
            let (rows, more) = BUCKETS.scan(tx, &span, PAGE_MAX)?;
            for (name, bucket) in rows {
                span.from = Some(BUCKETS.key(&name).to_vec());
                if !self.takes(&bucket) {
                    continue;
                }
                if own.len() == self.most {
                    let last = own.last().map(|last| StartAfter::Key(last.name.clone()).token());
                    return Ok((own, last));
                }
                own.push(bucket);
            }
            if !more {
                return Ok((own, None));
            }
        }
    }

    fn takes(&self, bucket: &Bucket) -> bool {
        bucket.owner == self.owner
            && bucket.kind == self.kind
            && self.region.is_none_or(|region| region == bucket.region)
    }
}

/// The number of a parameter that says how many buckets a page has at most.
fn page_size(
    call: &ReadCall<'_>,
    name: &'static str,
    (least, most): (i32, i32),
) -> Result<usize, Error> {
    let number = whole(name, call.query.get(name))?.unwrap_or(most);
    let size = usize::try_from(number).ok().filter(|_| (least..=most).contains(&number));
    size.ok_or_else(|| {
        Error::argument(name, Some(&number.to_string()), out_of_range(name, least, most))
    })
}

/// The region that a request wants buckets of, in letters of either case: this one, for those of another are asked for there.
fn region_of<'c>(call: &'c ReadCall<'_>) -> Result<Option<&'c str>, Error> {
    const ELSEWHERE: &str =
        "Requests with bucket-region specified must be made to the corresponding regional endpoint";
    let Some(named) = call.query.get("bucket-region") else {
        return Ok(None);
    };
    let name = named.to_ascii_lowercase();
    if name == call.settings.region.to_ascii_lowercase() {
        return Ok(Some(&call.settings.region));
    }
    let reason = match is_region(&name) {
        true => ELSEWHERE.to_owned(),
        false => format!("Argument value {named} is not a valid AWS Region"),
    };
    Err(Error::argument("bucket-region", None, reason))
}

/// The elements of one bucket; its region is shown where one is given.
fn describe(writer: &mut XmlWriter, bucket: &Bucket, region: Option<&str>, arn: String) {
    writer.element("Bucket", |writer| {
        writer.text("Name", &bucket.name);
        let created = Timestamp::from_seconds(bucket.created.seconds());
        writer.text("CreationDate", created.rfc3339_millis());
        writer.text_if("BucketRegion", region);
        writer.text("BucketArn", arn);
    });
}

/// `ListBuckets`: those of the caller's account, but directory buckets.
///
/// # Errors
/// `AccessDenied` for anonymous requests; `InvalidArgument` for a parameter that is none.
pub fn general(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let account = call.caller.account().ok_or(Error::AccessDenied)?;
    check_caller(call)?;
    let most = page_size(call, "max-buckets", (1, BUCKETS_MAX))?;
    let region = region_of(call)?;
    // Who asks for a page is told the regions, as in the real service.
    let is_paged = PAGED.iter().any(|name| call.query.has(name));
    let prefix = call.query.get("prefix").unwrap_or_default();
    let kind = BucketKind::GeneralPurpose;
    let (own, next) = Wanted { owner: &account.id, kind, prefix, region, most }.page(call, tx)?;
    let directory = account_directory(tx)?;
    let names = call.dialect().names();
    Ok(Reply::xml(XmlWriter::document("ListAllMyBucketsResult", names.namespace, |writer| {
        writer.element("Owner", |writer| user_fields(writer, &account.canonical_id, &directory));
        writer.element("Buckets", |writer| {
            for bucket in &own {
                let region = is_paged.then_some(&*bucket.region);
                describe(writer, bucket, region, format!("{}{}", names.arn_prefix, bucket.name));
            }
        });
        writer.text_if("Prefix", call.query.get("prefix"));
        writer.text_if("ContinuationToken", next);
    })))
}

/// `ListDirectoryBuckets`: those of the caller's account.
///
/// # Errors
/// As [`general`].
pub fn directory(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let account = call.caller.account().ok_or(Error::AccessDenied)?;
    check_caller(call)?;
    let most = page_size(call, "max-directory-buckets", (0, DIRECTORIES_MAX))?;
    let kind = BucketKind::Directory;
    let wanted = Wanted { owner: &account.id, kind, prefix: "", region: None, most };
    let (own, next) = match most {
        0 => (Vec::new(), None),
        _ => wanted.page(call, tx)?,
    };
    let dialect = call.dialect();
    let namespace = dialect.names().namespace;
    Ok(Reply::xml(XmlWriter::document("ListAllMyDirectoryBucketsResult", namespace, |writer| {
        writer.element("Buckets", |writer| {
            for bucket in &own {
                let arn = dialect.directory_arn(&bucket.region, &bucket.owner, &bucket.name);
                describe(writer, bucket, Some(&bucket.region), arn);
            }
        });
        writer.text_if("ContinuationToken", next);
    })))
}

/// Checks that the caller may list the buckets of its account; a session is good for one bucket.
fn check_caller(call: &ReadCall<'_>) -> Result<(), Error> {
    match call.caller.session() {
        Some(_) => Err(Error::InvalidToken),
        None if call.caller.has_permission(call.operation.permission) => Ok(()),
        None => Err(Error::AccessDenied),
    }
}

/// Tells whether a region of the real service has this name.
fn is_region(name: &str) -> bool {
    REGIONS.iter().any(|(area, places)| {
        let place = name.strip_prefix(area).and_then(|rest| rest.strip_prefix('-'));
        place.is_some_and(|place| places.contains(&place))
    })
}
