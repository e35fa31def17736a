//! The encryption of objects, as requests choose it and as answers show it.

use triptych_core::id::Ids;

use crate::body::customer_key::{self, CustomerKey, CustomerKeyHeaders};
use crate::body::encryption::SERVICE_MANAGED;
use crate::body::object_key::BodyKey;
use crate::error::Error;
use crate::operation::{ReadCall, Reply};
use crate::request::fields::Fields;
use crate::store::object_encryption::ObjectEncryption;

const MODE: &str = "x-store-server-side-encryption";

/// The encryption that a new object gets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum EncryptionChoice {
    /// With keys that the service manages.
    #[default]
    ServiceManaged,
    /// With a key that the request brings.
    Customer(CustomerKey),
}

/// The key of a new object, and what its record says of it.
#[derive(Debug, Clone)]
pub struct NewObjectKey {
    /// The encryption for the record.
    pub encryption: ObjectEncryption,
    /// The key that the data keys of its parts come from.
    pub key: BodyKey,
}

impl EncryptionChoice {
    /// Reads the encryption that a request chooses.
    ///
    /// # Errors
    /// `InvalidArgument` for two modes at once and for a mode that is none; those of [`CustomerKey::read`];
    /// `HeaderNotImplemented` for key-management keys.
    pub fn read(fields: &Fields<'_>) -> Result<Self, Error> {
        let names = fields.dialect().names();
        let mode = fields.get(MODE)?;
        let refused = |mode: &str, reason| Err(Error::argument(MODE, Some(mode), reason));
        match mode.as_deref() {
            Some(mode) if customer_key::OWN.are_named(fields) => refused(
                mode,
                "Server Side Encryption with Customer provided key is incompatible with the encryption method specified",
            ),
            None => {
                let customer = CustomerKey::read(fields, &customer_key::OWN)?;
                Ok(customer.map_or(Self::ServiceManaged, Self::Customer))
            }
            Some(SERVICE_MANAGED) => Ok(Self::ServiceManaged),
            Some(mode) if mode == names.kms || mode == names.kms_dual => {
                Err(Error::HeaderNotImplemented { header: MODE, reason: None })
            }
            Some(mode) => refused(mode, "The encryption method specified is not supported"),
        }
    }

    /// A new object's key, where no key service is needed for it.
    pub fn new_key(&self, ids: &mut dyn Ids) -> NewObjectKey {
        match self {
            Self::ServiceManaged => {
                NewObjectKey { encryption: ObjectEncryption::ServiceManaged, key: BodyKey::Service }
            }
            Self::Customer(own) => {
                let (key, seal) = own.seal(ids);
                NewObjectKey {
                    encryption: ObjectEncryption::Customer(seal),
                    key: BodyKey::Object(key),
                }
            }
        }
    }
}

/// The key that opens an object with this encryption, for a request on it.
///
/// # Errors
/// Those of [`CustomerKey::read`] and [`CustomerKey::open`]; `InvalidRequest` for an object with a customer's key that the request does
/// not bring, and for one without that it does bring.
pub fn open(call: &ReadCall<'_>, encryption: &ObjectEncryption) -> Result<BodyKey, Error> {
    open_with(call.fields, &customer_key::OWN, encryption)
}

/// As [`open`], for the source of a copy.
///
/// # Errors
/// Those of [`open`].
pub fn open_source(call: &ReadCall<'_>, encryption: &ObjectEncryption) -> Result<BodyKey, Error> {
    open_with(call.fields, &customer_key::COPY_SOURCE, encryption)
}

fn open_with(
    fields: &Fields<'_>,
    headers: &CustomerKeyHeaders,
    encryption: &ObjectEncryption,
) -> Result<BodyKey, Error> {
    match encryption {
        ObjectEncryption::Customer(seal) => {
            let customer = CustomerKey::read(fields, headers)?.ok_or_else(|| {
                Error::request(
                    "The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.",
                )
            })?;
            customer.open(seal).map(BodyKey::Object)
        }
        _ if headers.are_named(fields) => {
            Err(Error::request("The encryption parameters are not applicable to this object."))
        }
        ObjectEncryption::ServiceManaged => Ok(BodyKey::Service),
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
    Ok(match encryption {
        ObjectEncryption::ServiceManaged => reply.with(MODE, SERVICE_MANAGED),
        ObjectEncryption::Customer(_) => {
            let md5 = CustomerKey::read(fields, &customer_key::OWN)?.map(|key| key.md5());
            reply
                .with(customer_key::OWN.algorithm, customer_key::ALGORITHM)
                .with_some(customer_key::OWN.md5, md5)
        }
    })
}
