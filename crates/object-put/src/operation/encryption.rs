//! The encryption of objects, as requests choose it and as answers show it.

use triptych_core::kv::Tx;

use crate::auth::account::Caller;
use crate::body::customer_key::{self, CustomerKey, CustomerKeyHeaders};
use crate::body::encryption::SERVICE_MANAGED;
use crate::body::object_key::BodyKey;
use crate::error::Error;
use crate::kms::context::{self, EncryptionContext};
use crate::kms::key_name::KeyName;
use crate::operation::{ReadCall, Reply};
use crate::request::fields::Fields;
use crate::store::bucket::BucketKind;
use crate::store::bucket_encryption::{BucketEncryption, BucketMode, blocks_customer_keys};
use crate::store::object_encryption::{KeyOpening, ObjectEncryption, SealedKey};

pub(super) use crate::body::encryption::KEY_HEADER as KEY;
pub use crate::body::encryption::MODE_HEADER as MODE;

pub(super) const BUCKET_KEY: &str = "x-store-server-side-encryption-bucket-key-enabled";

/// The encryption that the headers of a request ask for; what they leave open is the bucket's to say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EncryptionRequest {
    pub(super) mode: Option<BucketMode>,
    pub(super) key: Option<String>,
    pub(super) context: Option<EncryptionContext>,
    pub(super) bucket_key: Option<bool>,
    customer: Option<CustomerKey>,
}

/// The encryption that a new object gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncryptionChoice {
    /// With keys that the service manages.
    ServiceManaged,
    /// With a key of a key service.
    KeyManagement(KmsChoice),
    /// With a key that the request brings.
    Customer(CustomerKey),
}

/// A key of a key service for a new object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KmsChoice {
    /// The key.
    pub key: KeyName,
    /// The account that asks.
    pub account: String,
    /// The context that the request brings.
    pub context: EncryptionContext,
    /// True if one call to the key service is to serve many objects.
    pub bucket_key: bool,
    /// True for a second layer with a key of its own.
    pub dual: bool,
}

/// The key of a new object, and what its record says of it.
#[derive(Debug, Clone)]
pub struct NewObjectKey {
    /// The encryption for the record.
    pub encryption: ObjectEncryption,
    /// The key that the data keys of its parts come from.
    pub key: BodyKey,
}

fn refused(value: Option<&str>, reason: &'static str) -> Error {
    Error::argument(MODE, value, reason)
}

impl EncryptionRequest {
    /// Reads what the headers of a request ask for.
    ///
    /// # Errors
    /// `InvalidArgument` for two modes at once, a mode that is none, a key or a context without its mode, a context that is none, a bucket
    /// key with two layers; those of [`CustomerKey::read`].
    pub fn read(fields: &Fields<'_>) -> Result<Self, Error> {
        let names = fields.dialect().names();
        let mode = fields.get(MODE)?;
        if customer_key::OWN.are_named(fields) {
            let others = [KEY, context::HEADER];
            if mode.is_some() || others.iter().any(|name| fields.has(name)) {
                return Err(refused(
                    mode.as_deref(),
                    "Server Side Encryption with Customer provided key is incompatible with the encryption method specified",
                ));
            }
        }
        let mode = match mode.as_deref() {
            None => None,
            Some(SERVICE_MANAGED) => Some(BucketMode::ServiceManaged),
            Some(mode) if mode == names.kms => Some(BucketMode::KeyManagement),
            Some(mode) if mode == names.kms_dual => Some(BucketMode::DualLayer),
            Some(mode) => {
                return Err(refused(
                    Some(mode),
                    "The encryption method specified is not supported",
                ));
            }
        };
        let is_kms = mode.is_some_and(|mode| mode != BucketMode::ServiceManaged);
        let key = fields.get(KEY)?.filter(|key| !key.is_empty());
        if !is_kms && (key.is_some() || fields.has(context::HEADER)) {
            return Err(refused(
                fields.get(MODE)?.as_deref(),
                "Server Side Encryption with AWS KMS managed key requires HTTP header x-store-server-side-encryption : store:kms",
            ));
        }
        let context = fields.get(context::HEADER)?;
        let bucket_key = match fields.get(BUCKET_KEY)?.as_deref() {
            None => None,
            Some(value) if value.eq_ignore_ascii_case("true") => Some(true),
            Some(value) if value.eq_ignore_ascii_case("false") => Some(false),
            Some(value) => {
                let reason = "The value is neither true nor false";
                return Err(Error::argument(BUCKET_KEY, Some(value), reason));
            }
        };
        if bucket_key == Some(true) && mode == Some(BucketMode::DualLayer) {
            let reason = "A bucket key cannot be used with dual-layer encryption";
            return Err(Error::argument(BUCKET_KEY, Some("true"), reason));
        }
        Ok(Self {
            mode,
            key: key.map(Into::into),
            context: context.map(|context| EncryptionContext::from_header(&context)).transpose()?,
            bucket_key,
            customer: CustomerKey::read(fields, &customer_key::OWN)?,
        })
    }

    /// Tells whether it names a mode of its own.
    #[must_use]
    pub const fn names_mode(&self) -> bool {
        self.mode.is_some() || self.customer.is_some()
    }

    /// The encryption that an object in the bucket of a request gets.
    ///
    /// # Errors
    /// Those of [`EncryptionRequest::choose_in_directory`] for a directory bucket; else `CustomerKeysBlocked`; `InvalidArgument` for a caller without a signature where a key service is asked; `AccessDenied` for a key that does not hold the
    /// permissions; [`Error::Kms`] for a name of a key that is none; as reads of the store.
    pub fn choose(&self, call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<EncryptionChoice, Error> {
        let (caller, bucket) = (call.caller, call.bucket()?);
        if bucket.kind == BucketKind::Directory {
            return self.choose_in_directory(call, tx);
        }
        if let Some(customer) = &self.customer {
            check_not_blocked(tx, bucket.id)?;
            return Ok(EncryptionChoice::Customer(customer.clone()));
        }
        let default = BucketEncryption::of_bucket(tx, bucket)?;
        let mode = self.mode.unwrap_or(default.mode);
        if mode == BucketMode::ServiceManaged {
            return Ok(EncryptionChoice::ServiceManaged);
        }
        check_kms(caller, &["kms:GenerateDataKey", "kms:Decrypt"])?;
        let account = caller.account().map_or(&bucket.owner, |account| &account.id);
        let key = match &self.key {
            Some(name) => KeyName::parse(name, account)?,
            None => default
                .name_of_key(call.settings.key_service)?
                .unwrap_or_else(|| KeyName::Managed(bucket.owner.clone())),
        };
        let dual = mode == BucketMode::DualLayer;
        Ok(EncryptionChoice::KeyManagement(KmsChoice {
            key,
            account: account.to_owned(),
            context: self.context.clone().unwrap_or_default(),
            bucket_key: !dual && self.bucket_key.unwrap_or(default.bucket_key),
            dual,
        }))
    }
}

/// Refuses the header that tells how an object is to be encrypted, where nothing is left to choose: a read has the object as it is, a part the
/// encryption that its upload was begun with.
///
/// # Errors
/// `InvalidArgument`.
pub fn refuse_choice(fields: &Fields<'_>) -> Result<(), Error> {
    match fields.get(MODE)? {
        None => Ok(()),
        Some(mode) => Err(Error::argument(
            MODE,
            Some(&mode),
            "x-store-server-side-encryption header is not supported for this operation.",
        )),
    }
}

fn check_not_blocked(tx: &mut Tx<'_>, bucket: u64) -> Result<(), Error> {
    match blocks_customer_keys(tx, bucket)? {
        Some(true) => Err(Error::CustomerKeysBlocked),
        _ => Ok(()),
    }
}

/// Checks that the bucket of an upload in parts takes the customer's key of a request on it, where that brings one: the bucket may refuse
/// them since the upload began.
///
/// # Errors
/// `CustomerKeysBlocked`; as reads of the store.
pub fn check_upload_not_blocked(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<(), Error> {
    match customer_key::OWN.are_named(call.fields) {
        true => check_not_blocked(tx, call.bucket()?.id),
        false => Ok(()),
    }
}

/// Checks that a caller may ask the key service to do this.
///
/// # Errors
/// `InvalidArgument` for one who is not known; `AccessDenied`.
pub fn check_kms(caller: &Caller, permissions: &[&str]) -> Result<(), Error> {
    if caller.account().is_none() {
        return Err(Error::argument(
            "Authorization",
            None,
            "Requests specifying Server Side Encryption with key-management keys require a signature of version 4.",
        ));
    }
    match permissions.iter().all(|permission| caller.has_permission(permission)) {
        true => Ok(()),
        false => Err(Error::AccessDenied),
    }
}

/// An object whose body is to be opened: its bucket by name, its key, and its encryption.
#[derive(Debug, Clone, Copy)]
pub struct EncryptedObject<'a> {
    /// The name of its bucket.
    pub bucket: &'a str,
    /// Its key.
    pub key: &'a str,
    /// Its encryption.
    pub encryption: &'a ObjectEncryption,
}

impl EncryptedObject<'_> {
    /// The way to the key that opens the object, for a request on it.
    ///
    /// # Errors
    /// Those of [`CustomerKey::read`] and [`CustomerKey::open`]; `InvalidRequest` for an object with a customer's key that the request does
    /// not bring, and for one without that it does bring; those of [`check_kms`].
    pub fn open(&self, call: &ReadCall<'_>) -> Result<KeyOpening, Error> {
        self.open_with(call, &customer_key::OWN)
    }

    /// As [`EncryptedObject::open`], for the source of a copy.
    ///
    /// # Errors
    /// Those of [`EncryptedObject::open`].
    pub fn open_source(&self, call: &ReadCall<'_>) -> Result<KeyOpening, Error> {
        self.open_with(call, &customer_key::COPY_SOURCE)
    }

    /// As [`EncryptedObject::open`], for a request on an upload in parts that was begun with this encryption.
    ///
    /// # Errors
    /// Those of [`EncryptedObject::open`]; `InvalidRequest` for a customer's key that is missing, another, or not asked for.
    pub fn open_upload(&self, call: &ReadCall<'_>) -> Result<KeyOpening, Error> {
        let is_customers = matches!(self.encryption, ObjectEncryption::Customer(_));
        if customer_key::OWN.are_named(call.fields) != is_customers {
            return Err(Error::request(
                "The multipart upload initiate requested encryption. Subsequent part requests must include the appropriate encryption parameters.",
            ));
        }
        self.open(call).map_err(|error| match error {
            Error::WrongCustomerKey => Error::request(
                "The provided encryption parameters did not match the ones used originally.",
            ),
            other => other,
        })
    }

    /// Checks the customer's key that a request for the head of the object brings: no other mode needs its key for that.
    ///
    /// # Errors
    /// Those of [`EncryptedObject::open`], but those of [`check_kms`].
    pub fn check_head(&self, call: &ReadCall<'_>) -> Result<(), Error> {
        self.customer(call.fields, &customer_key::OWN).map(drop)
    }

    fn open_with(
        &self,
        call: &ReadCall<'_>,
        headers: &CustomerKeyHeaders,
    ) -> Result<KeyOpening, Error> {
        if let Some(key) = self.customer(call.fields, headers)? {
            return Ok(KeyOpening::Known(key));
        }
        let ObjectEncryption::KeyManagement(seal) = self.encryption else {
            return Ok(KeyOpening::Known(BodyKey::Service));
        };
        check_kms(call.caller, &["kms:Decrypt"])?;
        Ok(KeyOpening::Sealed(Box::new(SealedKey {
            context: seal.whole_context(self.bucket, self.key),
            account: call.caller.account().map(|account| account.id.clone()).unwrap_or_default(),
            seal: (**seal).clone(),
        })))
    }

    /// The key that a customer's object opens with; `None` for an object of another mode.
    fn customer(
        &self,
        fields: &Fields<'_>,
        headers: &CustomerKeyHeaders,
    ) -> Result<Option<BodyKey>, Error> {
        match self.encryption {
            ObjectEncryption::Customer(seal) => {
                let customer = CustomerKey::read(fields, headers)?.ok_or_else(|| {
                    Error::request(
                        "The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.",
                    )
                })?;
                customer.open(seal).map(|key| Some(BodyKey::Object(key)))
            }
            _ if headers.are_named(fields) => {
                Err(Error::request("The encryption parameters are not applicable to this object."))
            }
            _ => Ok(None),
        }
    }
}

/// Adds the headers that tell how an object is encrypted; those of a customer's key repeat what the request brought.
///
/// # Errors
/// Those of [`CustomerKey::read`].
pub fn describe(
    reply: Reply,
    fields: &Fields<'_>,
    encryption: &ObjectEncryption,
) -> Result<Reply, Error> {
    let dialect = fields.dialect();
    let names = dialect.names();
    Ok(match encryption {
        ObjectEncryption::ServiceManaged => reply.with(MODE, SERVICE_MANAGED),
        ObjectEncryption::KeyManagement(seal) => {
            let mode = if seal.outer.is_some() { names.kms_dual } else { names.kms };
            reply
                .with(MODE, mode)
                .with(KEY, seal.key.text(dialect))
                .with_some(BUCKET_KEY, seal.bucket_key.then_some("true"))
        }
        ObjectEncryption::Customer(_) => {
            let md5 = CustomerKey::read(fields, &customer_key::OWN)?.map(|key| key.md5());
            reply
                .with(customer_key::OWN.algorithm, customer_key::ALGORITHM)
                .with_some(customer_key::OWN.md5, md5)
        }
    })
}

/// As [`describe`], for the answer to what wrote the object: it repeats the context, which reads do not.
///
/// # Errors
/// Those of [`describe`].
pub fn describe_written(
    reply: Reply,
    fields: &Fields<'_>,
    encryption: &ObjectEncryption,
) -> Result<Reply, Error> {
    let has_context = matches!(encryption, ObjectEncryption::KeyManagement(_));
    let brought = fields.get(context::HEADER)?.filter(|_| has_context);
    Ok(describe(reply, fields, encryption)?
        .with_some(context::HEADER, brought.map(std::borrow::Cow::into_owned)))
}
