//! The OAuth 2.0 issuer (RFC 6749): who may use which account, so that stock credentials libraries get their tokens here.
//!
//! | module | what |
//! |---|---|
//! | [`jwt`] | assertions of service accounts, and identity tokens |

pub mod jwt;
