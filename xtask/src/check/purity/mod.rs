//! `cargo xtask purity`: services stand apart, domains stay pure, no imports run in a circle, and no lint is allowed away.

mod attribute;
mod circle;
mod dependencies;
mod figures;
mod import;
mod module;
mod plan;
mod reader;
mod tokens;
mod tree;
mod world;

use std::path::PathBuf;

use anyhow::{Result, bail};

use self::plan::Plan;
use crate::run::workspace::root;

/// Arguments of `purity`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// Print a table of rooms, arrows between them and circles instead of checking
    #[arg(long)]
    pub arrows: bool,
    /// Read another checkout
    #[arg(long, value_name = "DIR", requires = "arrows")]
    pub root: Option<PathBuf>,
}

/// Prints what the check says, or the table.
///
/// # Errors
/// As [`check`].
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.arrows {
        let root = arguments.root.clone().unwrap_or_else(|| root().to_owned());
        print!("{}", figures::table(&Plan::all(&root)?)?);
    } else {
        println!("{}", check()?);
    }
    Ok(())
}

/// Runs all checks and says what was looked at.
///
/// # Errors
/// Every breach found, one a line.
pub(crate) fn check() -> Result<String> {
    let mut breaches = dependencies::breaches()?;
    breaches.extend(attribute::breaches(root())?);
    let (mut scanned, mut modules) = (0, 0);
    for plan in Plan::all(root())? {
        if plan.name != "xtask" {
            let (found, files) = world::breaches(&plan.name, &plan.source)?;
            breaches.extend(found);
            scanned += files;
        }
        modules += plan.modules;
        breaches.extend(plan.circles().iter().map(|circle| plan.told(circle)));
    }
    if !breaches.is_empty() {
        bail!("{} breaches of purity:\n  {}", breaches.len(), breaches.join("\n  "));
    }
    let packages = dependencies::packages().count();
    Ok(format!(
        "pure: {packages} packages stand alone, {scanned} domain files scanned, imports of {modules} modules run one way"
    ))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A crate with these files in its `src/`.
    fn planted(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join("src").join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        folder
    }

    fn told(files: &[(&str, &str)]) -> Vec<String> {
        let folder = planted(files);
        let plan = Plan::read(folder.path()).unwrap();
        let strip = format!("{}: import circle ", plan.name);
        let circles = plan.circles();
        circles.iter().map(|circle| plan.told(circle).replace(&strip, "")).collect()
    }

    fn arrows(files: &[(&str, &str)]) -> Vec<String> {
        let folder = planted(files);
        let plan = Plan::read(folder.path()).unwrap();
        plan.arrows
            .iter()
            .map(|arrow| format!("{} {} {}", arrow.from, arrow.to, arrow.line))
            .collect()
    }

    #[test]
    fn a_planted_circle_is_named_with_file_and_line_of_each_arrow() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
            ("a.rs", "use crate::b::B;\npub struct A(B);\n"),
            ("b/mod.rs", "mod deep;\npub struct B;\n"),
            ("b/deep.rs", "fn f() { crate::c::g() }\n"),
            ("c.rs", "use super::{\n    a::A,\n    b,\n};\npub fn g() -> A { b::B }\n"),
        ];
        assert_eq!(
            told(&files),
            Vec::<String>::new(),
            "b's child needs c, which needs b: but nothing leads from b to its child"
        );
        let closed =
            [&files[..2], &[("b/mod.rs", "mod deep;\nuse deep::f;\npub struct B;\n")], &files[3..]]
                .concat();
        assert_eq!(
            told(&closed),
            [
                "b -> b::deep -> c -> b (one of those that tie 4 modules together)\n    b -> b::deep: b/mod.rs:2\n    \
              b::deep -> c: b/deep.rs:1\n    c -> b: c.rs:5"
            ]
        );
    }

    #[test]
    fn a_parent_with_its_own_children_and_a_circle_in_tests_are_green() {
        assert!(
            told(&[
                ("lib.rs", "mod a;\nmod b;\n"),
                ("a/mod.rs", "mod child;\nuse child::C;\npub struct A(C);\n"),
                (
                    "a/child.rs",
                    "use super::A;\npub struct C;\n#[cfg(test)]\nmod tests { use crate::b::B; }\n"
                ),
                ("b.rs", "use crate::a::A;\npub struct B;\n"),
            ])
            .is_empty()
        );
    }

    #[test]
    fn an_arrow_leads_to_where_the_item_lives() {
        let files = [
            ("lib.rs", "pub mod a;\nmod b;\npub use a::Inner;\n"),
            (
                "a/mod.rs",
                "mod inner;\npub use inner::{Inner, other as renamed};\npub use bytes::Bytes;\npub mod here { pub fn f() {} }\n",
            ),
            ("a/inner.rs", "pub struct Inner;\npub fn other() {}\n"),
            ("b.rs", "use crate::Inner;\nfn f() { crate::a::renamed() }\nuse crate::a::Bytes;\n"),
        ];
        assert_eq!(arrows(&files), ["b a 3", "b a::inner 1"]);
        let nested =
            [&files[..3], &[("b.rs", "use crate::a;\nfn f() { a::here::f(); a::Inner::new(); }")]]
                .concat();
        assert_eq!(arrows(&nested), ["b a 2", "b a::inner 2"]);
    }

    #[test]
    fn a_public_import_that_its_file_uses_is_an_arrow() {
        let (lib, inner) = (("lib.rs", "mod a;\n"), ("a/inner.rs", "pub struct Inner;\n"));
        let signpost = ("a/mod.rs", "mod inner;\npub use inner::Inner;\n");
        assert!(arrows(&[lib, inner, signpost]).is_empty());
        let need = ("a/mod.rs", "mod inner;\npub(crate) use inner::Inner;\nfn f(_: Inner) {}\n");
        assert_eq!(arrows(&[lib, inner, need]), ["a a::inner 2"]);
    }

    #[test]
    fn a_planted_runtime_in_a_domain_folder_is_found_and_in_the_servers_is_not() {
        let folder = planted(&[
            ("store/key.rs", "use tokio::net;\n"),
            ("server/state.rs", "use tokio::net;\n"),
        ]);
        let (found, scanned) = world::breaches("object-put", &folder.path().join("src")).unwrap();
        assert_eq!(
            (found, scanned),
            (vec![format!("{}:1 says tokio::", Path::new("object-put/store/key.rs").display())], 1)
        );
    }

    #[test]
    fn this_repository_is_pure() {
        check().unwrap();
    }
}
