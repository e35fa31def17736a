//! Headers, storage classes and operations by kind of bucket, as a page: docs/operations/object-put-buckets.md is this text.

use crate::auth::session::DirectoryAccess;
use crate::operation::directory_bucket::SERVED;
use crate::operation::put_headers::{HEADERS, takes_class};
use crate::store::bucket::{BucketKind, ZoneKind};
use crate::store::version::StorageClass;

const START: &str = "# Headers, classes and operations of object-put by kind of bucket

Made from `HEADERS`, the rule of classes and `SERVED`; a test compares them, and another sends each header to each kind. An access point takes what its bucket takes: its column shows one to a general purpose bucket, one to a directory bucket takes what the column beside it says. What is `501` is refused by name: `NotImplemented` with `<Header>`, or with the name of the operation.

## Headers of PutObject

";
const CLASSES: &str = "
## Storage classes

What is refused is 400 InvalidStorageClass.

";
const OPERATIONS: &str = "
## Operations of directory buckets

All others are 501. Zonal ones take a session of that mode, or the right to one; regional ones the permission of a key of the owner, and path style too. An access point lets all but regional ones through: those are 405 MethodNotAllowed.

| Operation | Authorized by |
|---|---|
";

/// The kinds of bucket as columns, and the bucket that stands behind each.
const KINDS: [(&str, BucketKind); 4] = [
    ("General purpose", BucketKind::GeneralPurpose),
    ("Access point", BucketKind::GeneralPurpose),
    ("Directory", BucketKind::Directory),
    ("On premises", BucketKind::OnPremises),
];

fn heading(first: &str) -> String {
    let names = KINDS.map(|(name, _)| name).join(" | ");
    format!("| {first} | {names} |\n|---{}|\n", "|---".repeat(KINDS.len()))
}

/// The page.
#[must_use]
pub fn page() -> String {
    let mut text = START.to_owned();
    text.push_str(&heading("Header"));
    for rule in &HEADERS {
        let cells =
            KINDS.map(|(_, kind)| if rule.applies_to.takes(kind) { "taken" } else { "501" });
        text.push_str(&format!("| `{}` | {} |\n", rule.name, cells.join(" | ")));
    }
    text.push_str(CLASSES);
    text.push_str(&heading("Class"));
    for (class, name) in StorageClass::ALL {
        let cells = KINDS.map(|(_, kind)| {
            match [ZoneKind::Availability, ZoneKind::Local]
                .map(|zone| takes_class(kind, zone, class))
            {
                [true, true] => "taken",
                [true, false] => "taken in availability zones",
                [false, true] => "taken in local zones",
                [false, false] => "refused",
            }
        });
        text.push_str(&format!("| `{name}` | {} |\n", cells.join(" | ")));
    }
    text.push_str(OPERATIONS);
    for (name, access) in SERVED {
        let by = match access {
            DirectoryAccess::Zonal(mode) => format!("`express:CreateSession`, {}", mode.name()),
            DirectoryAccess::Copy => {
                "`express:CreateSession`, ReadWrite, without a session".to_owned()
            }
            DirectoryAccess::CreateSession => "`express:CreateSession`".to_owned(),
            DirectoryAccess::Regional(permission, _) => format!("`{permission}`"),
        };
        text.push_str(&format!("| {name} | {by} |\n"));
    }
    text
}
