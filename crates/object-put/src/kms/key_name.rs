//! Names of key-management keys: ids, ARNs, aliases, and ARNs of aliases, in either vocabulary.

use serde::{Deserialize, Serialize};

use crate::error::{Error, KmsFault};
use crate::request::dialect::{Dialect, is_managed_alias, without_kms_arn_prefix};

/// The most bytes of a name.
const NAME_BYTES_MAX: usize = 2048;

/// The ARN of a key, whichever vocabulary it is written in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeyArn {
    /// The region of the key.
    pub region: String,
    /// The account that owns it.
    pub account: String,
    /// Its id.
    pub id: String,
}

impl KeyArn {
    /// The ARN that `text` is, in either vocabulary.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (region, account, resource) = split_arn(text)?;
        let id = resource.strip_prefix("key/")?.to_owned();
        (!id.is_empty()).then(|| Self {
            region: region.to_owned(),
            account: account.to_owned(),
            id,
        })
    }

    /// It as `dialect` writes it.
    #[must_use]
    pub fn text(&self, dialect: Dialect) -> String {
        let Self { region, account, id } = self;
        format!("{}{region}:{account}:key/{id}", dialect.names().kms_arn_prefix)
    }
}

impl std::fmt::Display for KeyArn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text(Dialect::Store))
    }
}

/// The name of a key as requests give it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KeyName {
    /// The id of a key of one's own account.
    Id(String),
    /// An alias of one's own account, `alias/` and all.
    Alias(String),
    /// The ARN of a key of any account.
    Arn(KeyArn),
    /// The ARN of an alias: region, account, and the alias.
    AliasArn(String, String, String),
    /// The key that the provider manages for this account.
    Managed(String),
}

fn split_arn(text: &str) -> Option<(&str, &str, &str)> {
    let mut parts = without_kms_arn_prefix(text)?.splitn(3, ':');
    Some((parts.next()?, parts.next()?, parts.next()?))
}

/// The refusal of a name that is none.
fn invalid(text: &str) -> Error {
    Error::kms(KmsFault::NotFound, format!("Invalid keyId '{text}'"))
}

impl KeyName {
    /// The name that `text` is, to a caller of `account`.
    ///
    /// # Errors
    /// [`KmsFault::NotFound`] for what can be no name.
    pub fn parse(text: &str, account: &str) -> Result<Self, Error> {
        if text.len() > NAME_BYTES_MAX {
            return Err(invalid("..."));
        }
        if is_managed_alias(text) {
            return Ok(Self::Managed(account.to_owned()));
        }
        if !text.starts_with("arn:") {
            let is_alias = text.starts_with("alias/") && is_alias(text);
            let is_id = !text.is_empty() && !text.contains(['/', ':']);
            return match (is_alias, is_id) {
                (true, _) => Ok(Self::Alias(text.to_owned())),
                (false, true) => Ok(Self::Id(text.to_owned())),
                (false, false) => Err(invalid(text)),
            };
        }
        if let Some(arn) = KeyArn::parse(text) {
            return Ok(Self::Arn(arn));
        }
        let unread = || Error::kms(KmsFault::NotFound, format!("Invalid arn {text}"));
        let (region, account, alias) = split_arn(text).ok_or_else(unread)?;
        match is_alias(alias) {
            true if is_managed_alias(alias) => Ok(Self::Managed(account.to_owned())),
            true => Ok(Self::AliasArn(region.to_owned(), account.to_owned(), alias.to_owned())),
            false => Err(unread()),
        }
    }

    /// The account whose keys it names; `None` for names that mean the caller's.
    #[must_use]
    pub fn account(&self) -> Option<&str> {
        match self {
            Self::Id(_) | Self::Alias(_) => None,
            Self::Arn(arn) => Some(&arn.account),
            Self::AliasArn(_, account, _) | Self::Managed(account) => Some(account),
        }
    }

    /// Tells whether it can mean this key: an id or an ARN means one, an alias any of its region and account.
    #[must_use]
    pub fn can_mean(&self, key: &KeyArn) -> bool {
        match self {
            Self::Id(id) => *id == key.id,
            Self::Arn(arn) => arn == key,
            Self::AliasArn(region, account, _) => *region == key.region && *account == key.account,
            Self::Alias(_) | Self::Managed(_) => true,
        }
    }

    /// A name that means the same to every account: an id or an alias is taken for one of `account`.
    #[must_use]
    pub fn of_account(self, account: &str, region: &str) -> Self {
        let (region, account) = (region.to_owned(), account.to_owned());
        match self {
            Self::Id(id) => Self::Arn(KeyArn { region, account, id }),
            Self::Alias(alias) => Self::AliasArn(region, account, alias),
            other => other,
        }
    }

    /// It as `dialect` writes it.
    #[must_use]
    pub fn text(&self, dialect: Dialect) -> String {
        let names = dialect.names();
        match self {
            Self::Id(text) | Self::Alias(text) => text.clone(),
            Self::Arn(arn) => arn.text(dialect),
            Self::AliasArn(region, account, alias) => {
                format!("{}{region}:{account}:{alias}", names.kms_arn_prefix)
            }
            Self::Managed(_) => names.managed_alias.to_owned(),
        }
    }
}

/// Tells whether a text has the form of the ids that keys get.
#[must_use]
pub fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12])
        && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// Tells whether a text is one that can be an alias.
#[must_use]
pub fn is_alias(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-');
    text.strip_prefix("alias/")
        .is_some_and(|name| !name.is_empty() && name.len() <= 250 && name.bytes().all(allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "134f2428-cec1-4b25-a1ae-9048164dba47";

    #[test]
    fn names_are_read_in_either_vocabulary() {
        let arn = KeyArn {
            region: "us-east-1".to_owned(),
            account: "111122223333".to_owned(),
            id: ID.to_owned(),
        };
        let parse = |text: &str| KeyName::parse(text, "444455556666").unwrap();
        for dialect in [Dialect::Store, Dialect::Amz] {
            assert_eq!(parse(&arn.text(dialect)), KeyName::Arn(arn.clone()));
            let prefix = dialect.names().kms_arn_prefix;
            let alias = parse(&format!("{prefix}us-east-1:111122223333:alias/demo"));
            assert_eq!(alias.account(), Some("111122223333"));
            let managed = parse(dialect.names().managed_alias);
            assert_eq!(managed, KeyName::Managed("444455556666".to_owned()));
            for name in [&alias, &managed, &KeyName::Arn(arn.clone())] {
                let again = KeyName::parse(&name.text(dialect), "444455556666").unwrap();
                assert_eq!(again, *name);
            }
        }
        assert_eq!(parse(ID), KeyName::Id(ID.to_owned()));
        assert_eq!(parse("alias/demo"), KeyName::Alias("alias/demo".to_owned()));
    }

    #[test]
    fn an_id_or_an_arn_means_one_key_and_an_alias_one_of_its_place() {
        let arn = |text: &str| KeyArn::parse(&format!("arn:aws:kms:{text}")).unwrap();
        let key = arn(&format!("us-east-1:111122223333:key/{ID}"));
        for (name, other_id, other_account, other_region) in [
            (ID.to_owned(), false, true, true),
            (key.text(Dialect::Amz), false, false, false),
            ("alias/demo".to_owned(), true, true, true),
            ("alias/aws/s3".to_owned(), true, true, true),
            ("arn:aws:kms:us-east-1:111122223333:alias/demo".to_owned(), true, false, false),
        ] {
            let name = KeyName::parse(&name, "111122223333").unwrap();
            assert!(name.can_mean(&key), "{name:?}");
            for (other, may) in [
                ("us-east-1:111122223333:key/other".to_owned(), other_id),
                (format!("us-east-1:444455556666:key/{ID}"), other_account),
                (format!("eu-west-1:111122223333:key/{ID}"), other_region),
            ] {
                assert_eq!(name.can_mean(&arn(&other)), may, "{name:?} {other}");
            }
        }
    }

    #[test]
    fn what_can_be_no_name_is_not_found() {
        for text in [
            "",
            "a/b",
            "alias/",
            "alias/a b",
            "arn:aws:s3:::bucket",
            "arn:aws:kms:us-east-1",
            "arn:aws:kms:us-east-1:111122223333:key/",
            "arn:aws:kms:us-east-1:111122223333:grant/x",
            &"k".repeat(1 << 20),
        ] {
            let refused = KeyName::parse(text, "111122223333").unwrap_err();
            assert!(matches!(refused, Error::Kms { fault: KmsFault::NotFound, .. }), "{refused}");
            assert!(refused.to_string().len() < 4096);
        }
    }
}
