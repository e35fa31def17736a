//! One source file, read into the modules that it declares.

use super::module::{Import, Mention, Module};
use super::tokens::{Kind, Token};

/// A `mod name;`.
#[derive(Debug)]
pub(super) struct Declared {
    /// The name.
    pub name: String,
    /// The file that an attribute names, seen from the declaring one.
    pub path: Option<String>,
    /// Names of the modules in braces around it.
    pub within: Vec<String>,
    /// The module that declares it.
    pub parent: usize,
}

/// One file while it is read.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    modules: &'a mut Vec<Module>,
    /// The modules whose braces are open, each with the depth of what stands in it.
    open: Vec<(usize, usize)>,
    depth: usize,
    /// Files that are still to be read.
    pub declared: Vec<Declared>,
}

/// Words before the name of an item.
const ITEMS: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];

impl<'a> Reader<'a> {
    /// Begins at the outermost module of a file.
    pub(super) fn new(modules: &'a mut Vec<Module>, at: usize) -> Self {
        Self { modules, open: vec![(at, 0)], depth: 0, declared: Vec::new() }
    }

    /// Reads all tokens of the file.
    pub(super) fn read(&mut self, all: &[Token]) {
        let mut at = 0;
        while let Some(token) = all.get(at) {
            at += match &token.kind {
                Kind::Sign('{') => {
                    self.depth += 1;
                    1
                }
                Kind::Sign('}') => {
                    self.close();
                    1
                }
                Kind::Word(word) => self.word(word, all, at),
                _ => 1,
            };
        }
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.open.len() > 1 && self.open.last().is_some_and(|(_, depth)| *depth > self.depth) {
            self.open.pop();
        }
    }

    /// Reads from a word on, and says how many tokens that took.
    fn word(&mut self, word: &str, all: &[Token], at: usize) -> usize {
        let next = |step: usize| all.get(at + step);
        match word {
            "mod" if next(1).is_some_and(|token| token.word().is_some()) => {
                self.module(all, at);
                3
            }
            "use" if !next(1).is_some_and(|token| token.is('<')) => {
                let length = all.iter().skip(at).position(|token| token.is(';'));
                let end = length.map_or(all.len(), |length| at + length);
                let is_public = at > 0
                    && all
                        .get(at - 1)
                        .is_some_and(|token| token.word() == Some("pub") || token.is(')'));
                let mut tree = all.get(at + 1..end).unwrap_or_default();
                self.import(&mut tree, &[], is_public);
                end - at + 1
            }
            _ => {
                self.note(|module| {
                    module.words.insert(word.to_owned());
                });
                self.item(word, all, at);
                self.mention(all, at)
            }
        }
    }

    fn note(&mut self, write: impl FnOnce(&mut Module)) {
        let module = self.open.last().and_then(|(module, _)| self.modules.get_mut(*module));
        module.map(write);
    }

    fn module(&mut self, all: &[Token], at: usize) {
        let Some(name) = all.get(at + 1).and_then(Token::word) else { return };
        let Some(&(parent, _)) = self.open.last() else { return };
        if all.get(at + 2).is_some_and(|token| token.is('{')) {
            let inner = self.modules.len();
            let Some(around) = self.modules.get_mut(parent) else { return };
            around.children.insert(name.to_owned(), inner);
            let (full, file) = (around.name.clone(), around.file.clone());
            self.modules.push(Module {
                name: full,
                file,
                parent: Some(parent),
                ..Module::default()
            });
            self.depth += 1;
            self.open.push((inner, self.depth));
        } else {
            let before = all.get(..at).unwrap_or_default();
            self.declared.push(Declared {
                name: name.to_owned(),
                path: path_attribute(before),
                within: self.within(),
                parent,
            });
        }
    }

    /// Names of the modules in braces that are open.
    fn within(&self) -> Vec<String> {
        let pairs = self.open.iter().zip(self.open.iter().skip(1));
        let names = pairs.filter_map(|((outer, _), (inner, _))| {
            let children = &self.modules.get(*outer)?.children;
            children.iter().find(|(_, at)| *at == inner).map(|(name, _)| name.clone())
        });
        names.collect()
    }

    /// Reads a tree of imports, whose outer parts are `prefix`, up to its comma or its end.
    fn import(&mut self, tree: &mut &[Token], prefix: &[String], is_public: bool) {
        let mut path = prefix.to_vec();
        let mut name = None;
        let (mut is_glob, mut is_foreign) = (false, false);
        let mut line = 0;
        while let Some((token, rest)) = tree.split_first() {
            *tree = rest;
            line = token.line;
            match &token.kind {
                Kind::Word(word) if word == "as" => {
                    name = rest.first().and_then(Token::word).map(str::to_owned);
                    *tree = rest.get(1..).unwrap_or_default();
                }
                // `a::{self}` imports `a`.
                Kind::Word(word) if word == "self" && !path.is_empty() => {}
                Kind::Word(word) => path.push(word.clone()),
                Kind::Sign('*') => is_glob = true,
                Kind::Sign('{') => {
                    while tree.first().is_some_and(|token| !token.is('}')) {
                        self.import(tree, &path, is_public);
                    }
                    *tree = tree.get(1..).unwrap_or_default();
                    if tree.first().is_some_and(|token| token.is(',')) {
                        *tree = tree.get(1..).unwrap_or_default();
                    }
                    return;
                }
                Kind::Sign(',') => break,
                Kind::PathSep if path.is_empty() => is_foreign = true,
                Kind::Sign(_) | Kind::PathSep | Kind::Text(_) => {}
            }
            if tree.first().is_some_and(|token| token.is('}')) {
                break;
            }
        }
        if path.is_empty() || is_foreign {
            return;
        }
        let name = if is_glob { None } else { name.or_else(|| path.last().cloned()) };
        self.note(|module| module.imports.push(Import { path, name, is_public, line }));
    }

    /// Notes the name of an item that stands directly in the module.
    fn item(&mut self, word: &str, all: &[Token], at: usize) {
        let is_outside = self.open.last().is_some_and(|(_, depth)| *depth == self.depth);
        if !is_outside || !ITEMS.contains(&word) {
            return;
        }
        let behind = all.iter().skip(at + 1).take(2).filter_map(Token::word);
        if let Some(name) = behind.into_iter().find(|word| *word != "mut") {
            let name = name.to_owned();
            self.note(|module| {
                module.items.insert(name);
            });
        }
    }

    /// Notes the path that begins here, if one does, and says how many tokens it has.
    fn mention(&mut self, all: &[Token], at: usize) -> usize {
        let before = |step: usize| at.checked_sub(step).and_then(|at| all.get(at));
        let is_within = before(1).is_some_and(|token| token.kind == Kind::PathSep || token.is('.'));
        let is_visibility = before(1).and_then(Token::word) == Some("in")
            && before(2).is_some_and(|token| token.is('('));
        let parts = all.get(at..).unwrap_or_default().chunks(2).map_while(|pair| {
            let word = pair.first()?.word()?;
            Some((word, pair.get(1).is_some_and(|token| token.kind == Kind::PathSep)))
        });
        let mut path = Vec::new();
        for (word, goes_on) in parts {
            path.push(word.to_owned());
            if !goes_on {
                break;
            }
        }
        let length = (path.len() * 2).saturating_sub(1).max(1);
        if path.len() > 1 && !is_within && !is_visibility {
            let line = all.get(at).map_or(0, |token| token.line);
            self.note(|module| module.mentions.push(Mention { path, line }));
        }
        length
    }
}

/// The file that `#[path = "..."]` names before a `mod`.
fn path_attribute(before: &[Token]) -> Option<String> {
    let attribute = before.rsplit(|token| token.is(';') || token.is('}')).next()?;
    let at = attribute.iter().position(|token| token.word() == Some("path"))?;
    match &attribute.get(at + 2)?.kind {
        Kind::Text(text) => Some(text.clone()),
        _ => None,
    }
}
