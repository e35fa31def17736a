//! Senders and their rights: signatures, accounts, access control lists, policies.

pub mod account;
pub mod acl;
pub mod action;
pub mod authorize;
pub mod canonical;
pub mod chunk_signature;
pub mod credentials;
pub mod digest;
pub mod directory;
pub mod key_pair;
pub mod object_owner;
pub mod payload;
pub mod policy;
pub mod scope;
pub mod session;
pub mod session_token;
pub mod signature;
pub mod sigv2;
pub mod sigv4;
