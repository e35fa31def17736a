//! Extensions: their manifests, and what these permit.

pub mod manifest;
pub mod match_pattern;
pub mod permission;
pub mod warning;
