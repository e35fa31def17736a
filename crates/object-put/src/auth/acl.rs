//! Access control lists: grantees, permissions, canned lists, grant headers and the XML form.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::auth::account::{AccountDirectory, Caller};
use crate::error::Error;
use crate::request::dialect::Dialect;
use crate::request::fields::Fields;
use crate::request::xml::{Element, XmlWriter};

const ACL: &str = "x-store-acl";
/// The canned ACL by which the owner of a bucket gets full control.
pub const BUCKET_OWNER_FULL_CONTROL: &str = "bucket-owner-full-control";
/// The most grants of a list.
const GRANTS_MAX: usize = 100;
/// The canonical id that `aws-exec-read` names: the service that reads machine images.
const IMAGE_READER: &str = "6aa5a366c34c1cbe25dc49211496e913e0351eb0e8c37aa3477e40942ec6b97c";
const SCHEMA_INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The headers that grant one permission each.
const GRANT_HEADERS: [(&str, Permission); 5] = [
    ("x-store-grant-read", Permission::Read),
    ("x-store-grant-write", Permission::Write),
    ("x-store-grant-read-acp", Permission::ReadAcp),
    ("x-store-grant-write-acp", Permission::WriteAcp),
    ("x-store-grant-full-control", Permission::FullControl),
];

/// Groups of users that a grant can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Group {
    /// Anyone, anonymous or not.
    AllUsers,
    /// Anyone who signs.
    AuthenticatedUsers,
    /// The writers of access logs.
    LogDelivery,
}

impl Group {
    const ALL: [Self; 3] = [Self::AllUsers, Self::AuthenticatedUsers, Self::LogDelivery];

    /// Its URI in the words of `dialect`.
    #[must_use]
    pub fn uri(self, dialect: Dialect) -> String {
        let names = dialect.names();
        let name = match self {
            Self::AllUsers => "global/AllUsers",
            Self::AuthenticatedUsers => "global/AuthenticatedUsers",
            Self::LogDelivery => names.log_group,
        };
        format!("{}{name}", names.group_prefix)
    }

    fn parse(uri: &str, dialect: Dialect) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.uri(dialect) == uri)
    }
}

/// The receiver of a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Grantee {
    /// An account, by its canonical id.
    User(String),
    /// A group.
    Group(Group),
}

impl Grantee {
    fn user(directory: &AccountDirectory, canonical: &str) -> Option<Self> {
        // 64 hexadecimal digits may be an account beyond this store: what is granted to it waits for its key.
        let foreign =
            canonical.len() == 64 && canonical.bytes().all(|byte| byte.is_ascii_hexdigit());
        let known = directory.iter().any(|own| own.canonical_id == canonical);
        (known || foreign).then(|| Self::User(canonical.to_owned()))
    }

    fn of_email(directory: &AccountDirectory, address: &str) -> Result<Self, Error> {
        let mut accounts = directory.iter();
        accounts
            .find(|account| {
                !account.email.is_empty() && account.email.eq_ignore_ascii_case(address)
            })
            .map(|account| Self::User(account.canonical_id.clone()))
            .ok_or_else(|| Error::UnresolvableGrantByEmailAddress { address: address.to_owned() })
    }
}

/// The right that a grant gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Permission {
    /// Everything.
    FullControl,
    /// Read data and metadata, or list a bucket.
    Read,
    /// Write into a bucket.
    Write,
    /// Read the list.
    ReadAcp,
    /// Write the list.
    WriteAcp,
}

impl Permission {
    const ALL: [(Self, &'static str); 5] = [
        (Self::FullControl, "FULL_CONTROL"),
        (Self::Read, "READ"),
        (Self::Write, "WRITE"),
        (Self::ReadAcp, "READ_ACP"),
        (Self::WriteAcp, "WRITE_ACP"),
    ];

    fn parse(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|(_, own)| *own == name).map(|(own, _)| *own)
    }

    fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(own, _)| *own == self).map_or("", |(_, name)| name)
    }
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The receiver.
    pub grantee: Grantee,
    /// The right.
    pub permission: Permission,
}

/// The owners that canned lists name, and the accounts that grants name.
#[derive(Debug, Clone, Copy)]
pub struct AclContext<'a> {
    /// All accounts.
    pub directory: &'a AccountDirectory,
    /// Canonical id of who owns the bucket or object that the list is for.
    pub owner: &'a str,
    /// Canonical id of who owns the bucket.
    pub bucket_owner: &'a str,
    /// True if the list is a bucket's.
    pub is_bucket: bool,
}

/// An access control list. The default one says that the owner has full control.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Acl {
    /// The entries, in the order they were given; none if no list was ever put.
    grants: Option<Vec<Grant>>,
}

impl Acl {
    /// The list of these grants.
    #[must_use]
    pub const fn of(grants: Vec<Grant>) -> Self {
        Self { grants: Some(grants) }
    }

    /// Tells whether it is the default list.
    #[must_use]
    pub const fn is_default(&self) -> bool {
        self.grants.is_none()
    }

    /// The entries, where `owner` is the canonical id of the owner.
    #[must_use]
    pub fn entries(&self, owner: &str) -> Vec<Grant> {
        self.grants.clone().unwrap_or_else(|| vec![full_control(owner)])
    }

    /// Tells whether the list gives `wanted` to the caller.
    #[must_use]
    pub fn allows(&self, caller: &Caller, owner: &str, wanted: Permission) -> bool {
        let account = caller.account();
        self.entries(owner).iter().any(|grant| {
            let meant = match &grant.grantee {
                Grantee::User(id) => account.is_some_and(|account| account.canonical_id == *id),
                Grantee::Group(Group::AllUsers) => true,
                Grantee::Group(Group::AuthenticatedUsers) => account.is_some(),
                Grantee::Group(Group::LogDelivery) => false,
            };
            meant && (grant.permission == wanted || grant.permission == Permission::FullControl)
        })
    }

    /// Tells whether it gives anything to groups that anyone can join.
    #[must_use]
    pub fn is_public(&self) -> bool {
        let open = [Group::AllUsers, Group::AuthenticatedUsers].map(Grantee::Group);
        let grants = self.grants.iter().flatten();
        grants.into_iter().any(|grant| open.contains(&grant.grantee))
    }

    /// The list that the headers of a request name; `None` if they name none.
    ///
    /// # Errors
    /// Those of the grammar: `InvalidArgument`, `InvalidRequest` for a canned list beside grants,
    /// `UnresolvableGrantByEmailAddress`.
    pub fn from_headers(
        fields: &Fields<'_>,
        context: &AclContext<'_>,
    ) -> Result<Option<Self>, Error> {
        let mut grants = Vec::new();
        let mut is_given = false;
        for (header, permission) in GRANT_HEADERS {
            let Some(value) = fields.get(header)? else {
                continue;
            };
            is_given = true;
            if canned_name(fields)?.is_some() {
                return Err(Error::request(
                    "Specifying both Canned ACLs and Header Grants is not allowed",
                ));
            }
            for entry in value.split(',').map(str::trim) {
                let grantee = grantee(entry, header, fields.dialect(), context.directory)?;
                grants.push(Grant { grantee, permission });
            }
        }
        match canned_name(fields)? {
            Some(name) => canned(&name, context)
                .map(Some)
                .ok_or_else(|| Error::argument(ACL, Some(&name), "")),
            None if grants.len() > GRANTS_MAX => Err(Error::MalformedAcl),
            None => Ok(is_given.then(|| Self::of(grants))),
        }
    }

    /// Tells whether the headers of a request name a list.
    #[must_use]
    pub fn is_named(fields: &Fields<'_>) -> bool {
        // What is no text names a list that nobody knows.
        !matches!(canned_name(fields), Ok(None))
            || GRANT_HEADERS.iter().any(|(header, _)| fields.has(header))
    }

    /// Tells whether a request may bring this ACL where ACLs are disabled: one that says no more than the full control of `owner`. Of the
    /// canned ACLs that come to it only the one of that name is taken (spec §4), and `private` is not.
    ///
    /// # Errors
    /// `InvalidArgument` for a header that is no text.
    pub fn passes_where_disabled(&self, fields: &Fields<'_>, owner: &str) -> Result<bool, Error> {
        let is_other = canned_name(fields)?.is_some_and(|name| name != BUCKET_OWNER_FULL_CONTROL);
        Ok(!is_other && self.entries(owner) == [full_control(owner)])
    }

    /// The list of an `AccessControlPolicy` document.
    ///
    /// # Errors
    /// `MalformedAcl`; `AccessDenied` for another owner than the one there is; `InvalidArgument` for an unknown grantee;
    /// `UnresolvableGrantByEmailAddress`.
    pub fn from_xml(
        body: &[u8],
        dialect: Dialect,
        context: &AclContext<'_>,
    ) -> Result<Self, Error> {
        let malformed = |_| Error::MalformedAcl;
        let document = Element::parse(body, "AccessControlPolicy").map_err(malformed)?;
        document.has_only(&["Owner", "AccessControlList"], &[]).map_err(malformed)?;
        let owner = document.child("Owner").ok_or(Error::MalformedAcl)?;
        let list = document.child("AccessControlList").ok_or(Error::MalformedAcl)?;
        owner.has_only(&["ID", "DisplayName"], &[]).map_err(malformed)?;
        list.has_only(&[], &["Grant"]).map_err(malformed)?;
        let owner = owner.required("ID").map_err(malformed)?;
        if owner != context.owner {
            known_user(owner, context.directory)?;
            return Err(Error::AccessDenied);
        }
        let grants: Vec<_> = list
            .all("Grant")
            .map(|grant| {
                grant.has_only(&["Grantee", "Permission"], &[]).map_err(malformed)?;
                let permission = grant.text_of("Permission").and_then(Permission::parse);
                let grantee = grant.child("Grantee").ok_or(Error::MalformedAcl)?;
                Ok(Grant {
                    permission: permission.ok_or(Error::MalformedAcl)?,
                    grantee: grantee_of(grantee, dialect, context.directory)?,
                })
            })
            .collect::<Result<_, Error>>()?;
        if grants.len() > GRANTS_MAX {
            return Err(Error::MalformedAcl);
        }
        Ok(Self::of(grants))
    }

    /// The `AccessControlPolicy` document of a list whose owner has this canonical id.
    #[must_use]
    pub fn document(&self, dialect: Dialect, owner: &str, directory: &AccountDirectory) -> String {
        let namespace = dialect.names().namespace;
        XmlWriter::document("AccessControlPolicy", namespace, |writer| {
            writer.element("Owner", |writer| user_fields(writer, owner, directory));
            writer.element("AccessControlList", |writer| {
                for grant in self.entries(owner) {
                    writer.element("Grant", |writer| {
                        write_grantee(writer, &grant.grantee, dialect, directory);
                        writer.text("Permission", grant.permission.name());
                    });
                }
            });
        })
    }
}

/// Full control for the account with this canonical id.
#[must_use]
pub fn full_control(canonical: &str) -> Grant {
    Grant { grantee: Grantee::User(canonical.to_owned()), permission: Permission::FullControl }
}

/// Writes the two elements by which a reply names an account.
pub fn user_fields(writer: &mut XmlWriter, canonical: &str, directory: &AccountDirectory) {
    writer.text("ID", canonical);
    let name = directory.display_name(canonical);
    writer.text_if("DisplayName", (!name.is_empty()).then_some(name));
}

fn write_grantee(
    writer: &mut XmlWriter,
    grantee: &Grantee,
    dialect: Dialect,
    directory: &AccountDirectory,
) {
    let kind = match grantee {
        Grantee::User(_) => "CanonicalUser",
        Grantee::Group(_) => "Group",
    };
    let attributes = [("xmlns:xsi", SCHEMA_INSTANCE), ("xsi:type", kind)];
    writer.with_attributes("Grantee", &attributes, |writer| match grantee {
        Grantee::User(id) => user_fields(writer, id, directory),
        Grantee::Group(group) => writer.text("URI", group.uri(dialect)),
    });
}

/// The name of the canned list that a request brings. An empty one is none: the real service passes it over, and clients that are told no list
/// send it.
fn canned_name<'f>(fields: &'f Fields<'_>) -> Result<Option<Cow<'f, str>>, Error> {
    Ok(fields.get(ACL)?.filter(|name| !name.is_empty()))
}

/// The canned list with this name (spec §4), if there is one for what it is put on.
fn canned(name: &str, context: &AclContext<'_>) -> Option<Acl> {
    use Group::{AllUsers, AuthenticatedUsers, LogDelivery};
    let group = |group, permission| Grant { grantee: Grantee::Group(group), permission };
    let user = |id: &str, permission| Grant { grantee: Grantee::User(id.to_owned()), permission };
    let more = match name {
        "private" => vec![],
        "public-read" => vec![group(AllUsers, Permission::Read)],
        "public-read-write" => {
            vec![group(AllUsers, Permission::Read), group(AllUsers, Permission::Write)]
        }
        "authenticated-read" => vec![group(AuthenticatedUsers, Permission::Read)],
        "aws-exec-read" => vec![user(IMAGE_READER, Permission::Read)],
        "bucket-owner-read" if context.owner == context.bucket_owner => vec![],
        "bucket-owner-read" => vec![user(context.bucket_owner, Permission::Read)],
        BUCKET_OWNER_FULL_CONTROL if context.owner == context.bucket_owner => vec![],
        BUCKET_OWNER_FULL_CONTROL => vec![full_control(context.bucket_owner)],
        "log-delivery-write" if context.is_bucket => {
            vec![group(LogDelivery, Permission::Write), group(LogDelivery, Permission::ReadAcp)]
        }
        _ => return None,
    };
    let mut grants = vec![full_control(context.owner)];
    grants.extend(more);
    Some(Acl::of(grants))
}

/// One entry of a grant header: `id=..`, `uri=..` or `emailAddress=..`, with or without quotes.
fn grantee(
    entry: &str,
    header: &'static str,
    dialect: Dialect,
    directory: &AccountDirectory,
) -> Result<Grantee, Error> {
    let malformed = || Error::argument(header, Some(entry), "Argument format not recognized");
    let (kind, value) = entry.split_once('=').ok_or_else(malformed)?;
    let value = crate::request::etag::bare(value);
    match kind.trim() {
        "id" => Grantee::user(directory, value)
            .ok_or_else(|| Error::argument("id", Some(value), "Invalid id")),
        "uri" => Group::parse(value, dialect)
            .map(Grantee::Group)
            .ok_or_else(|| Error::argument("uri", Some(value), "Invalid group uri")),
        "emailAddress" => Grantee::of_email(directory, value),
        _ => Err(malformed()),
    }
}

fn known_user(id: &str, directory: &AccountDirectory) -> Result<Grantee, Error> {
    let unknown = || Error::argument("CanonicalUser/ID", Some(id), "Invalid id");
    Grantee::user(directory, id).ok_or_else(unknown)
}

fn grantee_of(
    element: &Element,
    dialect: Dialect,
    directory: &AccountDirectory,
) -> Result<Grantee, Error> {
    // Clients send back what a list showed them, a name among it.
    let known = ["ID", "DisplayName", "URI", "EmailAddress", "Type"];
    element.has_only(&known, &[]).map_err(|_| Error::MalformedAcl)?;
    let text = |name| element.text_of(name).ok_or(Error::MalformedAcl);
    match element.attribute("type") {
        Some("CanonicalUser") => known_user(text("ID")?, directory),
        Some("Group") => {
            let uri = text("URI")?;
            Group::parse(uri, dialect)
                .map(Grantee::Group)
                .ok_or_else(|| Error::argument("Group/URI", Some(uri), "Invalid group uri"))
        }
        Some("AmazonCustomerByEmail") => Grantee::of_email(directory, text("EmailAddress")?),
        _ => Err(Error::MalformedAcl),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::account::Account;

    fn directory() -> AccountDirectory {
        let account = |id: &str, canonical: &str, email: &str| Account {
            id: id.to_owned(),
            canonical_id: canonical.to_owned(),
            display_name: format!("name {id}"),
            email: email.to_owned(),
        };
        AccountDirectory::new(vec![account("1", "canon1", "a@b.c"), account("2", "canon2", "")])
    }

    fn read(headers: &[(&str, &str)]) -> Result<Option<Acl>, Error> {
        let fields = Fields::of(headers.iter().map(|(name, value)| (*name, value.as_bytes())))
            .in_dialect(Dialect::Amz);
        let directory = directory();
        let context = AclContext {
            directory: &directory,
            owner: "canon1",
            bucket_owner: "canon2",
            is_bucket: false,
        };
        Acl::from_headers(&fields, &context)
    }

    #[test]
    fn grant_headers_name_users_groups_and_addresses() {
        let acl = read(&[
            (
                "x-amz-grant-read",
                "id=\"canon2\", uri=\"http://acs.amazonaws.com/groups/global/AllUsers\"",
            ),
            ("x-amz-grant-full-control", "emailAddress=A@b.c"),
        ]);
        let acl = acl.unwrap().unwrap();
        assert!(acl.is_public());
        let entries = acl.entries("");
        assert_eq!(entries[0].grantee, Grantee::User("canon2".to_owned()));
        assert_eq!(entries[1].grantee, Grantee::Group(Group::AllUsers));
        assert_eq!(entries[2], full_control("canon1"));
        assert!(acl.allows(&Caller::Anonymous, "canon1", Permission::Read));
        assert!(!acl.allows(&Caller::Anonymous, "canon1", Permission::ReadAcp));
    }

    #[test]
    fn an_empty_name_of_a_list_is_none() {
        assert_eq!(read(&[("x-amz-acl", "")]), Ok(None));
        let grants = read(&[("x-amz-acl", ""), ("x-amz-grant-read", "id=canon1")]);
        assert!(matches!(grants, Ok(Some(_))), "{grants:?}");
    }

    #[test]
    fn faults_of_lists_have_their_own_errors() {
        let argument = |name: &'static str, value: &str, reason: &'static str| {
            Err(Error::argument(name, Some(value), reason))
        };
        assert_eq!(read(&[("x-amz-acl", "fake-acl")]), argument("x-store-acl", "fake-acl", ""));
        assert_eq!(
            read(&[("x-amz-grant-write", "fakekey=\"1234\"")]),
            argument("x-store-grant-write", "fakekey=\"1234\"", "Argument format not recognized")
        );
        assert_eq!(
            read(&[("x-amz-grant-read", "id=wrong-id")]),
            argument("id", "wrong-id", "Invalid id")
        );
        let uri = "http://acs.amazonaws.com/groups/s3/FakeGroup";
        assert_eq!(
            read(&[("x-amz-grant-read", &format!("uri=\"{uri}\""))]),
            argument("uri", uri, "Invalid group uri")
        );
        assert!(matches!(
            read(&[("x-amz-grant-read", "emailAddress=no@b.c")]),
            Err(Error::UnresolvableGrantByEmailAddress { .. })
        ));
        assert!(matches!(
            read(&[("x-amz-acl", "private"), ("x-amz-grant-read", "id=canon1")]),
            Err(Error::InvalidRequest { .. })
        ));
        assert_eq!(read(&[]), Ok(None));
        assert!(read(&[("x-amz-acl", "log-delivery-write")]).is_err());
    }

    #[test]
    fn a_document_reads_back() {
        let directory = directory();
        let context = AclContext {
            directory: &directory,
            owner: "canon1",
            bucket_owner: "canon2",
            is_bucket: false,
        };
        for name in ["private", "public-read-write", "bucket-owner-read", "authenticated-read"] {
            let acl = canned(name, &context).unwrap();
            let text = acl.document(Dialect::Store, "canon1", &directory);
            let read = Acl::from_xml(text.as_bytes(), Dialect::Store, &context);
            assert_eq!(read, Ok(acl), "{name}");
        }
        let empty = Acl::of(vec![]);
        assert!(!empty.is_default());
        assert_eq!(empty.entries("canon1"), []);
        assert_eq!(
            Acl::from_xml(b"<AccessControlPolicy/>", Dialect::Store, &context),
            Err(Error::MalformedAcl)
        );
    }
}
