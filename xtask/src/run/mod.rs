//! Runners of cargo, the services, their clients, and lists of steps.

pub(crate) mod at_once;
pub(crate) mod clients;
pub(crate) mod features;
pub(crate) mod process;
pub(crate) mod progress;
pub(crate) mod service;
pub(crate) mod steps;
pub(crate) mod tally;
pub(crate) mod test_programs;
pub(crate) mod workspace;
pub(crate) mod writer;
