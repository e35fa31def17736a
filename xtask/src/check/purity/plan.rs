//! The floor plan of one crate: its modules' arrows, and the circles among them.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::circle::{Circle, circles, graph};
use super::import::{Arrow, arrows};
use super::tree::Crate;

/// Arrows of a crate.
#[derive(Debug)]
pub(super) struct Plan {
    /// The folder's name.
    pub name: String,
    /// Its `src/`.
    pub source: PathBuf,
    /// The number of files of its modules.
    pub modules: usize,
    /// The arrows of its library and of its program, each within itself.
    pub arrows: Vec<Arrow>,
}

impl Plan {
    /// Reads every crate of a checkout: those in `crates/`, and `xtask`.
    ///
    /// # Errors
    /// If a source cannot be read.
    pub(super) fn all(root: &Path) -> Result<Vec<Self>> {
        let mut folders = vec![root.join("xtask")];
        for entry in std::fs::read_dir(root.join("crates"))? {
            folders.push(entry?.path());
        }
        folders.sort();
        folders.retain(|folder| folder.join("src").is_dir());
        folders.iter().map(|folder| Self::read(folder)).collect()
    }

    /// Reads one crate.
    ///
    /// # Errors
    /// If a source cannot be read.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let source = folder.join("src");
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (mut found, mut modules) = (Vec::new(), 0);
        for root in ["lib.rs", "main.rs"].map(|root| source.join(root)) {
            if root.exists() {
                let read = Crate::read(&root)?;
                modules += read.files();
                found.extend(arrows(&read));
            }
        }
        Ok(Self { name, source, modules, arrows: found })
    }

    /// Circles that are more than a parent with what is below it.
    pub(super) fn circles(&self) -> Vec<Circle<'_>> {
        let pairs = self.arrows.iter().map(|arrow| (arrow.from.as_str(), arrow.to.as_str()));
        circles(&graph(pairs))
    }

    /// Words for a circle: its modules, then file and line of each arrow.
    pub(super) fn told(&self, circle: &Circle<'_>) -> String {
        let ends = circle.path.iter().chain(circle.path.first()).copied();
        let path: Vec<_> = ends.collect();
        let mut said = format!("{}: import circle {}", self.name, path.join(" -> "));
        if circle.modules > circle.path.len() {
            said += &format!(" (one of those that tie {} modules together)", circle.modules);
        }
        for (from, to) in path.iter().zip(path.iter().skip(1)) {
            let arrow = self.arrows.iter().find(|arrow| arrow.from == *from && arrow.to == *to);
            said += &format!(
                "\n    {from} -> {to}: {}",
                arrow.map_or_else(String::new, |arrow| self.place(arrow))
            );
        }
        said
    }

    /// File and line of an arrow.
    pub(super) fn place(&self, arrow: &Arrow) -> String {
        let file = arrow.file.strip_prefix(&self.source).unwrap_or(&arrow.file);
        format!("{}:{}", file.display(), arrow.line)
    }
}
