//! `cargo xtask test`: everything that must be green, in one order, with one set of features so that steps share their builds.

use std::process::Command;

use anyhow::Result;

use crate::check::{licences, links, purity};
use crate::run::service::SERVICES;
use crate::run::steps::Steps;
use crate::run::tally::cargo_tests;
use crate::run::workspace::{cargo, root, target};
use crate::task::{crash, e2e, up};

/// Arguments of `test`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// Only the steps whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub step: Option<String>,
}

/// Runs every step, whatever the others say.
///
/// # Errors
/// The names of the steps that failed.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut steps = Steps::default();
    let asked = |name: &str| arguments.step.as_deref().is_none_or(|text| name.contains(text));
    for (name, step) in STEPS {
        if asked(name) {
            step(&mut steps, name);
        }
    }
    steps.finish()
}

type Step = fn(&mut Steps, &str);

/// The steps: what is quick to fail comes first.
const STEPS: &[(&str, Step)] = &[
    ("format", |steps, name| steps.command(name, cargo(&["fmt", "--all", "--check"]), said(""))),
    ("licences", |steps, name| steps.run(name, |_| licences::check())),
    ("links", |steps, name| steps.run(name, |_| links::check())),
    ("purity", |steps, name| steps.run(name, |_| purity::check())),
    ("lints", |steps, name| {
        let lints = [
            "clippy",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--locked",
            "--",
            "-D",
            "warnings",
        ];
        steps.command(name, cargo(&lints), said("no warning"));
    }),
    ("domains", |steps, name| steps.run(name, |_| domains())),
    ("docs", |steps, name| {
        let mut docs = cargo(&["doc", "--workspace", "--all-features", "--no-deps", "--locked"]);
        docs.env("RUSTDOCFLAGS", "-D warnings");
        steps.command(name, docs, said("no warning"));
    }),
    ("unit", |steps, name| {
        steps.command(
            name,
            cargo(&["test", "--workspace", "--all-features", "--locked", "--no-fail-fast"]),
            cargo_tests,
        );
    }),
    ("outside", |steps, name| {
        steps.command(name, outside(), said("a crate outside the workspace builds"))
    }),
    ("build", |steps, name| {
        steps.command(
            name,
            cargo(&["build", "--workspace", "--all-features", "--bins", "--examples", "--locked"]),
            said("binaries and examples"),
        );
    }),
    ("clients", |steps, name| steps.run(name, |_| e2e::drive(&e2e::Arguments::default()))),
    ("rust-clients", |steps, name| steps.run(name, |_| e2e::drive_rust())),
    ("crash", |steps, name| steps.run(name, |_| crash::short())),
    ("demo", |steps, name| {
        steps.run(name, |_| {
            up::run(&up::Arguments { demo: true, ..up::Arguments::default() })?;
            Ok("every printed line and every job worked".into())
        });
    }),
];

fn said(text: &'static str) -> impl FnOnce(&str) -> Result<String> {
    move |_| Ok(text.to_owned())
}

/// The tests of each domain by itself, without its server: features of one package never hide what another misses.
fn domains() -> Result<String> {
    let mut said = Vec::new();
    for package in SERVICES.iter().map(|service| service.name).chain(["triptych-core"]) {
        let tests = ["test", "--locked", "-p", package, "--no-default-features", "--lib"];
        let text = crate::run::workspace::output(&mut cargo(&tests))?;
        said.push(format!("{package}: {}", cargo_tests(&text)?));
    }
    Ok(said.join("; "))
}

/// The crate outside shares the target directory, so that only what its features change is built again; its lock follows ours.
fn outside() -> Command {
    let manifest = root().join("examples/outside/Cargo.toml");
    let mut command = cargo(&["run", "--manifest-path"]);
    command.arg(manifest).env("CARGO_TARGET_DIR", target());
    command
}
