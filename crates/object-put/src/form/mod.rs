//! Forms that a browser uploads an object with: the framing of their body, their fields, who signed them, and the policy that says what
//! they may hold.

pub mod credentials;
pub mod fields;
pub mod framing;
pub mod policy;
pub mod result;
