//! The public access block.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use triptych_core::kv::Tx;

use crate::auth::acl::Acl;
use crate::auth::policy::Policy;
use crate::error::Error;
use crate::request::xml::Element;
use crate::store::tables::BUCKET_CONFIGS;

/// The public access block of a bucket: it keeps a bucket from becoming public, whatever its ACLs and policy say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublicAccessBlock {
    /// Public lists are refused.
    pub block_public_acls: bool,
    /// Public lists that are there do not count.
    pub ignore_public_acls: bool,
    /// Public policies are refused.
    pub block_public_policy: bool,
    /// While the policy that is there is public, the owner's account alone is let in.
    pub restrict_public_buckets: bool,
}

impl PublicAccessBlock {
    /// The name under which the block of a bucket is kept.
    pub const CONFIG_NAME: &'static str = "public-access-block";

    /// The block of a bucket; one that was never put blocks nothing.
    ///
    /// # Errors
    /// As reads of the store; [`Error::Damaged`] for one that cannot be read.
    pub fn of_bucket(tx: &mut Tx<'_>, bucket: u64) -> Result<Self, Error> {
        let row = BUCKET_CONFIGS.peek(tx, &(bucket, Self::CONFIG_NAME.to_owned()))?;
        let block = row.map(|bytes| serde_json::from_slice(&bytes).map_err(|_| Error::Damaged));
        Ok(block.transpose()?.unwrap_or_default())
    }

    /// Tells whether a bucket with this policy is for its owner's account alone, whatever its policy and its lists give to others.
    ///
    /// # Errors
    /// As [`PublicAccessBlock::of_bucket`].
    pub(in crate::auth) fn shuts_out_others(
        tx: &mut Tx<'_>,
        bucket: u64,
        policy: &Policy,
    ) -> Result<bool, Error> {
        Ok(policy.is_public() && Self::of_bucket(tx, bucket)?.restrict_public_buckets)
    }

    /// Blocks everything: what new buckets have.
    pub const ALL: Self = Self {
        block_public_acls: true,
        ignore_public_acls: true,
        block_public_policy: true,
        restrict_public_buckets: true,
    };

    /// Sets it on a bucket.
    pub fn put(&self, tx: &mut Tx<'_>, bucket: u64) {
        let fields = self.fields().map(|(name, value)| {
            let (first, rest) = name.split_at(1);
            (first.to_ascii_lowercase() + rest, value.into())
        });
        let text = Value::Object(fields.into_iter().collect()).to_string();
        BUCKET_CONFIGS.put(tx, &(bucket, Self::CONFIG_NAME.to_owned()), &text.into());
    }

    /// Checks a list that is to be set in a bucket.
    ///
    /// # Errors
    /// [`Error::AccessDenied`] for a public one where the bucket blocks those.
    pub fn check(tx: &mut Tx<'_>, bucket: u64, acl: &Acl) -> Result<(), Error> {
        if acl.is_public() && Self::of_bucket(tx, bucket)?.block_public_acls {
            return Err(Error::AccessDenied);
        }
        Ok(())
    }

    /// The block of a `PublicAccessBlockConfiguration` document; what it does not name is off.
    ///
    /// # Errors
    /// [`Error::MalformedXml`]; `InvalidRequest` for one that names nothing.
    pub fn from_xml(body: &[u8]) -> Result<Self, Error> {
        let root = Element::parse(body, "PublicAccessBlockConfiguration")?;
        root.has_only(&Self::default().fields().map(|(name, _)| name), &[])?;
        if root.children.is_empty() {
            return Err(Error::request("Must specify at least one configuration."));
        }
        let flag = |name| match root.text_of(name) {
            None => Ok(false),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(_) => Err(Error::MalformedXml),
        };
        Ok(Self {
            block_public_acls: flag("BlockPublicAcls")?,
            ignore_public_acls: flag("IgnorePublicAcls")?,
            block_public_policy: flag("BlockPublicPolicy")?,
            restrict_public_buckets: flag("RestrictPublicBuckets")?,
        })
    }

    /// Names and values of its elements.
    #[must_use]
    pub const fn fields(&self) -> [(&'static str, bool); 4] {
        [
            ("BlockPublicAcls", self.block_public_acls),
            ("IgnorePublicAcls", self.ignore_public_acls),
            ("BlockPublicPolicy", self.block_public_policy),
            ("RestrictPublicBuckets", self.restrict_public_buckets),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_names_what_it_blocks() {
        let read = |inner: &str| {
            let text =
                format!("<PublicAccessBlockConfiguration>{inner}</PublicAccessBlockConfiguration>");
            PublicAccessBlock::from_xml(text.as_bytes())
        };
        let none = PublicAccessBlock::default();
        let acls = PublicAccessBlock { block_public_acls: true, ..none };
        assert_eq!(read("<BlockPublicAcls>TRUE</BlockPublicAcls>"), Ok(acls));
        assert_eq!(read("<BlockPublicAcls>false</BlockPublicAcls>"), Ok(none));
        assert_eq!(read("<BlockPublicAcls>yes</BlockPublicAcls>"), Err(Error::MalformedXml));
        assert!(matches!(read(""), Err(Error::InvalidRequest { .. })));
    }
}
