//! The writers of `tests/crash`, which drive a real binary and know what it acknowledged.

use std::path::PathBuf;
use std::process::Command;

use crate::run::service::Service;
use crate::run::workspace::root;

/// The folder whose files are memory.
pub(crate) const MEMORY: &str = "/dev/shm";
/// The end of the name of those writers that upload in parts.
const PARTS: &str = "_parts";

/// The names of a service's writers: its own, and those beside it.
pub(crate) fn all(service: &Service) -> Vec<String> {
    let own = own(service);
    let of_parts = format!("{own}{PARTS}");
    let all = [own, of_parts].into_iter();
    all.filter(|writer| script(writer).is_file()).collect()
}

/// The name of the writer of all that a service does.
pub(crate) fn own(service: &Service) -> String {
    service.name.replace('-', "_")
}

/// The script of a writer.
pub(crate) fn script(writer: &str) -> PathBuf {
    root().join("tests/crash").join(format!("{writer}.py"))
}

/// Tells a writer what it starts.
pub(crate) fn tell(command: &mut Command, service: &Service) {
    command.env("TRIPTYCH_BINARY", service.binary(false));
    command.env("TRIPTYCH_SEED", service.demo_seed());
}
