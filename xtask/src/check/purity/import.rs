//! Arrows between modules: who imports from whom, each followed to where the item lives.

use std::path::PathBuf;

use super::module::{Import, Module};
use super::tree::Crate;

/// One module needs another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    /// The module that needs.
    pub from: String,
    /// The module that is needed.
    pub to: String,
    /// The file of the import.
    pub file: PathBuf,
    /// The line of the import.
    pub line: usize,
    /// The file of what is needed.
    pub to_file: PathBuf,
}

/// The module or item that a path leads to.
#[derive(Clone, Copy, Debug)]
enum Target {
    /// A module itself.
    Module(usize),
    /// An item that lives in this module.
    Item(usize),
}

impl Target {
    fn module(self) -> usize {
        match self {
            Self::Module(at) | Self::Item(at) => at,
        }
    }
}

/// The most imports of imports that are followed, so that two that name each other end.
const STEPS_MAX: usize = 16;

/// All arrows within a crate, sorted.
///
/// A public import that its own file does not use is a signpost and no arrow: whoever follows it has an arrow to the end of the way.
pub(super) fn arrows(all: &Crate) -> Vec<Arrow> {
    let mut found = Vec::new();
    for (at, module) in all.modules.iter().enumerate() {
        let mut add = |to: usize, line: usize| {
            if let Some(to) = all.modules.get(to).filter(|to| to.name != module.name) {
                let (from, file) = (module.name.clone(), module.file.clone());
                found.push(Arrow {
                    from,
                    to: to.name.clone(),
                    file,
                    line,
                    to_file: to.file.clone(),
                });
            }
        };
        for import in &module.imports {
            if let Some(target) = all.resolve(at, &import.path, STEPS_MAX)
                && is_need(module, import, target)
            {
                add(target.module(), import.line);
            }
        }
        for mention in &module.mentions {
            if let Some(target) = all.resolve(at, &mention.path, STEPS_MAX) {
                add(target.module(), mention.line);
            }
        }
    }
    found.sort();
    found.dedup_by(|one, other| (&one.from, &one.to) == (&other.from, &other.to));
    found
}

/// Tells whether an import needs its target here: a signpost does not, and a module that is only named as the start of longer paths
/// is needed by those.
fn is_need(module: &Module, import: &Import, target: Target) -> bool {
    let Some(name) = &import.name else { return true };
    let starts_paths = || module.mentions.iter().any(|mention| mention.path.first() == Some(name));
    match target {
        Target::Module(_) if starts_paths() => false,
        _ => !import.is_public || module.words.contains(name),
    }
}

impl Crate {
    /// Follows a path from a module to the module where its end lives; none if it leads out of the crate.
    fn resolve(&self, from: usize, path: &[String], steps: usize) -> Option<Target> {
        let steps = steps.checked_sub(1)?;
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => self.modules.get(from)?.parent?,
            name => {
                let start = self.lookup(from, name, steps)?;
                return self.walk(start, rest, steps);
            }
        };
        while let Some(("super", behind)) =
            rest.split_first().map(|(name, rest)| (name.as_str(), rest))
        {
            at = self.modules.get(at)?.parent?;
            rest = behind;
        }
        self.walk(Target::Module(at), rest, steps)
    }

    fn walk(&self, start: Target, path: &[String], steps: usize) -> Option<Target> {
        let Target::Module(at) = start else { return Some(start) };
        let Some((name, rest)) = path.split_first() else { return Some(start) };
        match self.lookup(at, name, steps) {
            Some(target) => self.walk(target, rest, steps),
            // A macro made it, or it comes from another crate: it is had from here.
            None => Some(Target::Item(at)),
        }
    }

    /// The meaning of a name in a module: its own child or item, an import of its, or what a glob brings.
    fn lookup(&self, at: usize, name: &str, steps: usize) -> Option<Target> {
        let steps = steps.checked_sub(1)?;
        let module = self.modules.get(at)?;
        if let Some(child) = module.children.get(name) {
            return Some(Target::Module(*child));
        }
        if module.items.contains(name) {
            return Some(Target::Item(at));
        }
        let named = |import: &&Import| import.name.as_deref() == Some(name);
        if let Some(import) = module.imports.iter().find(named) {
            return self.resolve(at, &import.path, steps);
        }
        let mut globs = module.imports.iter().filter(|import| import.name.is_none());
        globs.find_map(|import| {
            let Target::Module(inner) = self.resolve(at, &import.path, steps)? else { return None };
            self.lookup(inner, name, steps)
        })
    }
}
