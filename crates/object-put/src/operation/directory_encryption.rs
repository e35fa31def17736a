//! Encryption in directory buckets: one key-management key, the bucket's own, or keys that the service manages. A session settles which; what
//! its requests say of it must say the same.

use triptych_core::kv::Tx;

use crate::error::Error;
use crate::kms::context;
use crate::kms::key_manager::KeyServiceKind;
use crate::kms::key_name::{KeyArn, KeyName};
use crate::operation::encryption::{
    self, BUCKET_KEY, EncryptionChoice, EncryptionRequest, KEY, KmsChoice, MODE,
};
use crate::operation::{ReadCall, Reply};
use crate::request::dialect::Dialect;
use crate::store::bucket_encryption::{BucketEncryption, BucketMode};

fn differs(reason: &'static str) -> Error {
    Error::request(reason)
}

impl EncryptionRequest {
    /// The key-management key of a session that a request asks for; `None` for keys that the service manages.
    ///
    /// # Errors
    /// `HeaderNotImplemented` for two layers; `InvalidArgument` for an alias, a bucket key that is switched off and another context than
    /// the bucket; `InvalidRequest` for a key that is missing or not the bucket's; as reads of the store.
    pub fn of_session(
        &self,
        call: &ReadCall<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<Option<KeyArn>, Error> {
        let of_bucket = key_of_bucket(&BucketEncryption::of_bucket(tx, call.bucket()?)?).cloned();
        if self.mode == Some(BucketMode::KeyManagement) && self.key.is_none() {
            return Err(differs("The key of a session with store:kms must be named."));
        }
        self.settle(call, of_bucket.clone(), of_bucket.as_ref())
    }

    /// The encryption of a new object in a directory bucket.
    ///
    /// # Errors
    /// Those of [`EncryptionRequest::of_session`], and `InvalidRequest` for what differs from the session; those of
    /// [`encryption::check_kms`].
    pub fn choose_in_directory(
        &self,
        call: &ReadCall<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<EncryptionChoice, Error> {
        let default = BucketEncryption::of_bucket(tx, call.bucket()?)?;
        let of_bucket = key_of_bucket(&default);
        // One that was asked for before the bucket was there settles nothing.
        let session = call.caller.session().filter(|session| session.bucket.is_some());
        let key = match session {
            None => self.settle(call, of_bucket.cloned(), of_bucket)?,
            Some(session) => {
                let own = self.settle(call, session.key.clone(), session.key.as_ref())?;
                if own != session.key {
                    return Err(differs(
                        "The encryption of a request must be that of its session, which cannot be overridden.",
                    ));
                }
                own
            }
        };
        let Some(key) = key else {
            return Ok(EncryptionChoice::ServiceManaged);
        };
        encryption::check_kms(call.caller, &["kms:GenerateDataKey", "kms:Decrypt"])?;
        Ok(EncryptionChoice::KeyManagement(KmsChoice {
            key: name_of(key, &default, call.settings.key_service)?,
            account: call.caller.account().map(|account| account.id.clone()).unwrap_or_default(),
            context: context::EncryptionContext::default(),
            bucket_key: true,
            dual: false,
        }))
    }

    /// The key that a request comes to, where `default` is that of one which says nothing and `allowed` the only one that there is.
    fn settle(
        &self,
        call: &ReadCall<'_>,
        default: Option<KeyArn>,
        allowed: Option<&KeyArn>,
    ) -> Result<Option<KeyArn>, Error> {
        if self.mode == Some(BucketMode::DualLayer) {
            let reason = "Directory buckets take AES256 and store:kms alone";
            return Err(Error::HeaderNotImplemented { header: MODE, reason: Some(reason) });
        }
        if self.bucket_key == Some(false) {
            let reason = "Bucket keys of directory buckets are always enabled";
            return Err(Error::argument(BUCKET_KEY, Some("false"), reason));
        }
        self.check_context(call)?;
        match self.mode {
            None => return Ok(default),
            Some(BucketMode::ServiceManaged) => return Ok(None),
            Some(_) => {}
        }
        let not_own =
            || differs("The key is not the customer managed key of the directory bucket.");
        let allowed = allowed.ok_or_else(not_own)?;
        if let Some(name) = &self.key {
            let account = call.caller.account().map_or("", |account| &account.id);
            let own = customer_key(KEY, name, account, &call.settings.region)?;
            if !call.settings.key_service.is_same(&own, allowed) {
                return Err(not_own());
            }
        }
        Ok(Some(allowed.clone()))
    }

    /// The context that a request names can only be the bucket.
    fn check_context(&self, call: &ReadCall<'_>) -> Result<(), Error> {
        let Some(context) = &self.context else {
            return Ok(());
        };
        let bucket = call.bucket()?;
        let arns = [Dialect::Store, Dialect::Amz]
            .map(|dialect| dialect.directory_arn(&bucket.region, &bucket.owner, &bucket.name));
        let mut pairs = context.iter();
        match (pairs.next(), pairs.next()) {
            (Some((_, value)), None) if arns.contains(value) => Ok(()),
            _ => Err(Error::argument(
                context::HEADER,
                None,
                "The context of a directory bucket is the ARN of the bucket alone",
            )),
        }
    }
}

/// The key-management key of a directory bucket's default encryption, where that is its mode.
const fn key_of_bucket(default: &BucketEncryption) -> Option<&KeyArn> {
    match (default.mode, &default.key) {
        (BucketMode::KeyManagement, Some(KeyName::Arn(arn))) => Some(arn),
        _ => None,
    }
}

/// The name by which `service` is asked for the key of a directory bucket: a session may know it by another one than the bucket by now.
fn name_of(
    key: KeyArn,
    default: &BucketEncryption,
    service: KeyServiceKind,
) -> Result<KeyName, Error> {
    let is_default = matches!(&default.key, Some(KeyName::Arn(own)) if service.is_same(own, &key));
    let name = default.name_of_key(service)?.filter(|_| is_default);
    Ok(name.unwrap_or(KeyName::Arn(key)))
}

/// The customer-managed key that a text names by id or ARN.
///
/// # Errors
/// `InvalidArgument` for an alias and for the key that the provider manages; [`Error::Kms`] for what is no name of a key.
pub fn customer_key(
    argument: &'static str,
    name: &str,
    account: &str,
    region: &str,
) -> Result<KeyArn, Error> {
    match KeyName::parse(name, account)?.of_account(account, region) {
        KeyName::Arn(arn) => Ok(arn),
        _ => Err(Error::argument(
            argument,
            Some(name),
            "Directory buckets take the id or the ARN of a customer managed key, and no alias",
        )),
    }
}

/// Adds the headers that tell how new objects of a session are encrypted.
#[must_use]
pub fn describe_session(reply: Reply, dialect: Dialect, key: Option<&KeyArn>) -> Reply {
    match key {
        None => reply.with(MODE, crate::body::encryption::SERVICE_MANAGED),
        Some(key) => reply
            .with(MODE, dialect.names().kms)
            .with(KEY, key.text(dialect))
            .with(BUCKET_KEY, "true"),
    }
}
