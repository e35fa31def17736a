//! Sub-commands, one file each.

pub(crate) mod bench;
pub(crate) mod crash;
pub(crate) mod demo;
pub(crate) mod e2e;
pub(crate) mod explore;
pub(crate) mod process;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod scale;
pub(crate) mod soak;
pub(crate) mod test;
pub(crate) mod up;
pub(crate) mod walks;
