//! How an object is encrypted, as its record says: the mode, and what is needed to find its key again.

use serde::{Deserialize, Serialize};

use crate::body::customer_key::CustomerSeal;

/// The encryption of an object.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ObjectEncryption {
    /// Root keys wrap the data keys of its parts.
    #[default]
    ServiceManaged,
    /// A customer brings its key with each request.
    Customer(CustomerSeal),
}

impl ObjectEncryption {
    /// Tells whether it is the mode of an object that asks for none.
    #[must_use]
    pub fn is_service_managed(&self) -> bool {
        *self == Self::ServiceManaged
    }

    /// The number of layers in which bodies are encrypted.
    #[must_use]
    pub const fn layers(&self) -> usize {
        match self {
            Self::ServiceManaged | Self::Customer(_) => 1,
        }
    }
}
