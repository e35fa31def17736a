//! The definitions, imports and names of a module.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// One `use`, of one name.
#[derive(Debug)]
pub(super) struct Import {
    /// The path as it is written, without the star of a glob.
    pub path: Vec<String>,
    /// The name that it brings; a glob has none.
    pub name: Option<String>,
    /// Tells whether others may import it from here.
    pub is_public: bool,
    /// Its line.
    pub line: usize,
}

/// A path in the middle of code, such as `kv::Table` or `crate::time::now`.
#[derive(Debug)]
pub(super) struct Mention {
    /// Its parts, of which there are two or more.
    pub path: Vec<String>,
    /// Its line.
    pub line: usize,
}

/// The contents of one pair of braces of a module, or of its file.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// The name of the file's module: `kv::sled`, or `crate` for the root of a library; in a program each begins with `main`.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The module around it.
    pub parent: Option<usize>,
    /// Modules within it by name.
    pub children: BTreeMap<String, usize>,
    /// Names of the items that it defines.
    pub items: BTreeSet<String>,
    /// Its imports.
    pub imports: Vec<Import>,
    /// Its paths.
    pub mentions: Vec<Mention>,
    /// Words outside its imports.
    pub words: BTreeSet<String>,
}
