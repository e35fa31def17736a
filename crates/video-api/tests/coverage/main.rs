//! The page that says which tests cover which operation, made from the tests themselves.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod sentences;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use video_api::api::operation::Operation;
use video_api::resource::OPERATIONS;

use sentences::SENTENCES;

/// Tests that a column names of an operation at most: those that cover the fewest others.
const NAMED_MAX: usize = 3;

/// The way in which the tests of a folder are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    /// Tests that send requests by their method and path.
    Wire,
    Python,
    Node,
    /// Tests of the client that is written in Rust.
    Client,
}

const COLUMNS: [(Language, &str, &str); 4] = [
    (Language::Wire, "crates/video-api/tests/wire", "Requests"),
    (Language::Python, "tests/video", "Python"),
    (Language::Node, "tests/video", "Node"),
    (Language::Client, "tests/rust/tests/google_youtube3", "Rust"),
];

/// A function of a file of tests.
struct Function {
    name: String,
    body: String,
    is_test: bool,
}

fn files(language: Language, folder: &Path) -> Vec<PathBuf> {
    let ending = match language {
        Language::Wire | Language::Client => ".rs",
        Language::Python => "_test.py",
        Language::Node => ".test.mjs",
    };
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The name of the function that a line begins, and whether it is a test.
fn begun(language: Language, line: &str, before: &str) -> Option<(String, bool)> {
    let name = |rest: &str, ends: &[char]| rest.split(ends).next().unwrap_or_default().to_owned();
    match language {
        Language::Wire | Language::Client => {
            let rest = line.trim_start();
            let rest = ["pub(crate) ", "pub(super) ", "pub "]
                .iter()
                .find_map(|start| rest.strip_prefix(start))
                .unwrap_or(rest);
            let rest = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix("fn ")?;
            let is_test = before.trim_start().starts_with("#[") && before.contains("test");
            Some((name(rest, &['(', '<']), is_test))
        }
        Language::Python => {
            let name = name(line.trim_start().strip_prefix("def ")?, &['(']);
            let is_test = name.starts_with("test_");
            Some((name, is_test))
        }
        Language::Node => match line.strip_prefix("test('") {
            Some(rest) => Some((name(rest, &['\'']), true)),
            None => Some((name(line.strip_prefix("const ")?, &[' ', '=']), false)),
        },
    }
}

fn functions(language: Language, text: &str) -> Vec<Function> {
    let (mut found, mut before) = (Vec::<Function>::new(), "");
    for line in text.lines() {
        if let Some((name, is_test)) = begun(language, line, before) {
            found.push(Function { name, body: String::new(), is_test });
        }
        if let Some(function) = found.last_mut() {
            function.body.extend(line.chars().filter(|letter| !letter.is_whitespace()));
        }
        before = line;
    }
    found
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// Returns whether the text of a function, without its blanks, asks for an operation.
fn asks(language: Language, body: &str, operation: &Operation) -> bool {
    let (resource, verb) = operation.name.split_once('.').unwrap();
    let holds = |texts: &[String]| texts.iter().any(|text| body.contains(text.as_str()));
    match language {
        Language::Wire => {
            let method = format!("\"{}\"", operation.method.name());
            let path = operation.path.split('{').next().unwrap();
            let is_path = body.match_indices(path).any(|(at, _)| {
                let (before, after) = (&body[..at], &body[at + path.len()..]);
                let starts = before.ends_with('"') || before.ends_with("/v3");
                starts && (path.ends_with('/') || after.starts_with(['?', '"']))
            });
            let reads = operation.method.name() == "GET"
                && (!["\"POST\"", "\"PUT\"", "\"DELETE\""]
                    .iter()
                    .any(|other| body.contains(other))
                    || holds(&[".list(".into(), "pages(".into(), "get(".into()]));
            is_path && (body.contains(&method) || reads)
        }
        Language::Python => holds(&[
            format!("{resource}().{verb}("),
            if verb == "list" { format!("{resource}(),") } else { "\0".into() },
        ]),
        Language::Node => holds(&[
            format!(".{resource}.{verb}("),
            if verb == "list" { format!(".{resource},") } else { "\0".into() },
        ]),
        Language::Client => {
            let resource = match resource {
                "i18nLanguages" => "i18n_languages".to_owned(),
                "i18nRegions" => "i18n_regions".to_owned(),
                other => snake(other),
            };
            holds(&[format!("{resource}().{}(", snake(verb))])
        }
    }
}

/// The operations that each test of a file covers, by itself and by what it calls of its file.
fn covered(language: Language, text: &str) -> Vec<(String, BTreeSet<&'static str>)> {
    let functions = functions(language, text);
    let own = |function: &Function| {
        let asked = OPERATIONS.iter().filter(|row| asks(language, &function.body, row));
        asked.map(|operation| operation.name).collect::<BTreeSet<_>>()
    };
    let mut by_name: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
    for function in &functions {
        by_name.entry(&function.name).or_default().extend(own(function));
    }
    let mut tests = Vec::new();
    for test in functions.iter().filter(|function| function.is_test) {
        let (mut names, mut unread) = (BTreeSet::new(), vec![test]);
        let mut all = BTreeSet::new();
        while let Some(function) = unread.pop() {
            all.extend(&by_name[function.name.as_str()]);
            let called = functions.iter().filter(|other| {
                !other.is_test && function.body.contains(&format!("{}(", other.name))
            });
            unread.extend(called.filter(|other| names.insert(other.name.as_str())));
        }
        tests.push((test.name.clone(), all));
    }
    tests
}

#[test]
fn every_sentence_of_the_specification_has_a_test_of_its_name() {
    let mut names = BTreeSet::new();
    for (language, folder, _) in COLUMNS {
        for file in files(language, &root().join(folder)) {
            let text = std::fs::read_to_string(file).unwrap();
            let tests = functions(language, &text).into_iter().filter(|function| function.is_test);
            names.extend(tests.map(|test| test.name));
        }
    }
    for file in files(Language::Wire, &root().join("crates/video-api/src")) {
        let text = std::fs::read_to_string(file).unwrap();
        let tests =
            functions(Language::Wire, &text).into_iter().filter(|function| function.is_test);
        names.extend(tests.map(|test| test.name));
    }
    for (section, sentence, test) in SENTENCES {
        assert!(names.contains(*test), "{section}, {sentence}: there is no test {test}");
    }
    for operation in OPERATIONS {
        let mut told = SENTENCES.iter().filter(|(section, ..)| *section == "4");
        let is_told = told.any(|(_, sentence, _)| {
            let rest = sentence.strip_prefix(operation.name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ' ']))
        });
        assert!(is_told, "no sentence is about {}", operation.name);
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// By column and operation: tests, each with the number of operations that it covers.
fn coverage() -> BTreeMap<(usize, &'static str), BTreeSet<(usize, String)>> {
    let mut coverage = BTreeMap::<_, BTreeSet<_>>::new();
    for (column, (language, folder, _)) in COLUMNS.into_iter().enumerate() {
        for file in files(language, &root().join(folder)) {
            let text = std::fs::read_to_string(&file).unwrap();
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let name = name.split('.').next().unwrap().trim_end_matches("_test").to_owned();
            for (test, operations) in covered(language, &text) {
                for operation in &operations {
                    let test = (
                        operations.len(),
                        format!("{name}: {}", test.trim_start_matches("test_").replace('_', " ")),
                    );
                    coverage.entry((column, *operation)).or_default().insert(test);
                }
            }
        }
    }
    coverage
}

fn page() -> String {
    let coverage = coverage();
    let mut out = String::from(
        "# Tests of the operations of video-api\n\nMade from the tests, and compared with them by one. Of each kind, those three are named that cover the fewest operations\n\
         beside. Requests are those of `crates/video-api/tests/wire`; the clients are google-api-python-client and @googleapis/youtube in `tests/video`, and google-youtube3 in\n\
         `tests/rust`. What every operation has in common (credentials, parameters, parts, schemas, wrong types) is walked through for all 51 there as well.\n\n\
         | Operation | Requests | Python | Node | Rust |\n|---|---|---|---|---|\n",
    );
    for operation in OPERATIONS {
        out.push_str(&format!("| {} |", operation.name));
        for column in 0..COLUMNS.len() {
            let tests = coverage.get(&(column, operation.name)).cloned().unwrap_or_default();
            let named: Vec<_> =
                tests.iter().take(NAMED_MAX).map(|(_, name)| name.as_str()).collect();
            out.push_str(&format!(" {} |", named.join("; ")));
        }
        out.push('\n');
    }
    out.push_str(
        "\n## Sentences of the specification\n\n| Section | Sentence | Test |\n|---|---|---|\n",
    );
    for (section, sentence, test) in SENTENCES {
        let test = test.trim_start_matches("test_").replace('_', " ");
        out.push_str(&format!("| {section} | {sentence} | {test} |\n"));
    }
    out
}

#[test]
fn every_operation_is_covered_by_requests_and_by_the_clients_that_know_it() {
    let coverage = coverage();
    // The published descriptions that Node's and Rust's clients are made from lost two operations.
    let lost = ["activities.insert", "guideCategories.list"];
    // Pictures are made by the clients; their requests are walked through with all others.
    let pictures = ["channelBanners.insert"];
    for operation in OPERATIONS {
        for (column, (_, _, title)) in COLUMNS.iter().enumerate() {
            let has_tests = coverage.contains_key(&(column, operation.name));
            let knows = match *title {
                "Requests" => !pictures.contains(&operation.name),
                "Python" => true,
                _ => !lost.contains(&operation.name),
            };
            assert!(has_tests || !knows, "{} has no test of {title}", operation.name);
        }
    }
}

#[test]
fn the_page_of_tests_is_what_the_tests_are() {
    let path = root().join("docs/operations/video-api-tests.md");
    let told = std::fs::read_to_string(&path).unwrap_or_default();
    let made = page();
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(&path, &made).unwrap();
        return;
    }
    assert!(
        told == made,
        "docs/operations/video-api-tests.md is not what the tests are any more; with UPDATE_PAGES=1 this test writes it"
    );
}
