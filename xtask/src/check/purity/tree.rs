//! Modules of a crate as its sources declare them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

use super::module::Module;
use super::reader::{Declared, Reader};
use super::tokens::tokens;

/// All modules of a library or a program.
///
/// A module within braces has a place in the tree, but the name and the file of the one around it.
#[derive(Debug, Default)]
pub(super) struct Crate {
    /// The first is the root.
    pub modules: Vec<Module>,
}

impl Crate {
    /// Reads the root file and every file that it declares.
    ///
    /// # Errors
    /// If a declared file cannot be read.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut found = Self::default();
        let folder = root.parent().unwrap_or_else(|| Path::new("."));
        let is_program = root.file_name().is_some_and(|name| name == "main.rs");
        found.file(if is_program { "main" } else { "crate" }.into(), root, folder, None)?;
        Ok(found)
    }

    /// The number of its files.
    pub(super) fn files(&self) -> usize {
        let files: BTreeSet<_> = self.modules.iter().map(|module| &module.file).collect();
        files.len()
    }

    fn file(
        &mut self,
        name: String,
        file: &Path,
        folder: &Path,
        parent: Option<usize>,
    ) -> Result<usize> {
        let source = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let at = self.modules.len();
        self.modules.push(Module { name, file: file.to_owned(), parent, ..Module::default() });
        let mut reader = Reader::new(&mut self.modules, at);
        reader.read(&tokens(&source));
        for declared in reader.declared {
            self.declare(declared, file, folder)?;
        }
        Ok(at)
    }

    /// Reads the file of `mod name;`, which is `name.rs` or `name/mod.rs` of the folder, or where `#[path]` says.
    fn declare(&mut self, declared: Declared, by: &Path, folder: &Path) -> Result<()> {
        let Declared { name, path, within, parent } = declared;
        let around = within.iter().fold(folder.to_owned(), |folder, part| folder.join(part));
        let (plain, own) = (around.join(format!("{name}.rs")), around.join(&name));
        let (file, folder) = match path {
            Some(path) => {
                let file = by.with_file_name(path);
                let beside = file.parent().unwrap_or(folder).to_owned();
                (file, beside)
            }
            None if plain.exists() => (plain, own),
            None => (own.join("mod.rs"), own),
        };
        let outer = self.modules.get(parent).map_or("crate", |module| module.name.as_str());
        let inner = within.iter().chain([&name]).map(String::as_str);
        let full = [outer].into_iter().filter(|name| *name != "crate").chain(inner);
        let full = full.collect::<Vec<_>>().join("::");
        let at = self.file(full, &file, &folder, Some(parent))?;
        if let Some(module) = self.modules.get_mut(parent) {
            module.children.insert(name, at);
        }
        Ok(())
    }
}
