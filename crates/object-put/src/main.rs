//! The `object-put` binary: flags to a service under the host.

mod commands;

use std::process::ExitCode;

use triptych_core::host::flags::Product;
use triptych_core::host::launch;

const PRODUCT: Product = Product {
    name: "object-put",
    version: env!("CARGO_PKG_VERSION"),
    prefix: "OBJECT_PUT",
    port: 7802,
    record_bytes_max: 65_536,
    is_row: object_put::maintenance::archive::is_row,
};

fn main() -> ExitCode {
    let about = "An object store built around PutObject, driven by unmodified S3 clients";
    let command = launch::command(&PRODUCT, about, commands::augment);
    let matches = command.clone().get_matches();
    if let Some(code) =
        matches.subcommand().and_then(|(name, matches)| commands::run(name, matches))
    {
        return code;
    }
    launch::run(&PRODUCT, &command, &matches, commands::serve::make)
}
