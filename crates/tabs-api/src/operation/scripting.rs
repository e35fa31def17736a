//! Scripts and style sheets in pages: scripting.executeScript, insertCSS, removeCSS.

use crate::browser::scripting::{FrameChoice, Injected, Target};
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::extension::permission::path_of_file;
use crate::id::TAB_ID_NONE;
use crate::js_value::JsValue;
use crate::operation::call::Call;
use crate::operation::row::Operation;
use crate::operation::schema::{Parameter, Property, Schema};

const TARGET: Property = Property::required(
    "target",
    Schema::Named(
        "scripting.InjectionTarget",
        &Schema::Object(&[
            Property::required("tabId", Schema::INTEGER),
            Property::optional("frameIds", Schema::Array { of: &Schema::INTEGER, min_items: 0 }),
            Property::optional("documentIds", Schema::Array { of: &Schema::String, min_items: 0 }),
            Property::optional("allFrames", Schema::Boolean),
        ]),
    ),
);
const FILES: Property =
    Property::optional("files", Schema::Array { of: &Schema::String, min_items: 0 });

/// A style sheet, and where it applies.
const STYLE_SHEET: Schema = Schema::Named(
    "scripting.CSSInjection",
    &Schema::Object(&[
        TARGET,
        Property::optional("css", Schema::String),
        FILES,
        Property::optional(
            "origin",
            Schema::Named("scripting.StyleOrigin", &Schema::Word(&["AUTHOR", "USER"])),
        ),
    ]),
);

pub(in crate::operation) const EXECUTE_SCRIPT: Operation = Operation::new(
    "scripting.executeScript",
    &[Parameter::required(
        "injection",
        Schema::Named(
            "scripting.ScriptInjection",
            &Schema::Object(&[
                TARGET,
                Property::optional("func", Schema::Function),
                Property::optional("args", Schema::Array { of: &Schema::Any, min_items: 0 }),
                FILES,
                Property::optional(
                    "world",
                    Schema::Named("scripting.ExecutionWorld", &Schema::Word(&["ISOLATED", "MAIN"])),
                ),
                Property::optional("injectImmediately", Schema::Boolean),
            ]),
        ),
    )],
    execute_script,
    "Runs a script in frames of a page that the extension may access; simulated pages run none, so that its result is null.",
)
.changing_nothing();

/// Checks what is to run before it looks at the page.
fn execute_script(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let files = call.property(0, "files");
    if call.property(0, "func").is_some() == files.is_some() {
        return Err(Error::FuncOrFiles);
    }
    if files.is_some() && call.property(0, "args").is_some() {
        return Err(Error::ArgsWithFiles);
    }
    check_files(call, &["js", "mjs"], Error::NotAScript)?;
    check_files_are_there(browser, call)?;
    let files = call.texts(0, "files").into_iter().filter_map(path_of_file);
    let script = Injected::Script(files.collect());
    browser.inject(&call.caller.extension, &target(browser, call)?, script)
}

pub(in crate::operation) const INSERT_CSS: Operation = Operation::new(
    "scripting.insertCSS",
    &[Parameter::required("injection", STYLE_SHEET)],
    insert_css,
    "Adds a style sheet to frames of a page that the extension may access.",
)
.changing_nothing();

fn insert_css(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    check_style_sheet(call)?;
    check_files(call, &["css"], Error::NotAStyleSheet)?;
    check_files_are_there(browser, call)?;
    browser.inject(&call.caller.extension, &target(browser, call)?, Injected::StyleSheet)
}

pub(in crate::operation) const REMOVE_CSS: Operation = Operation::new(
    "scripting.removeCSS",
    &[Parameter::required("injection", STYLE_SHEET)],
    remove_css,
    "Takes a style sheet out of frames again; one that is not there is no error.",
)
.changing_nothing();

fn remove_css(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    check_style_sheet(call)?;
    // Nothing is read of a file that is taken out again: it need not be there, and its name is looked at after the page.
    let target = target(browser, call)?;
    browser.frames_to_inject(&call.caller.extension, &target)?;
    check_files(call, &["css"], Error::NotAStyleSheet)?;
    browser.inject(&call.caller.extension, &target, Injected::StyleSheet)
}

fn check_style_sheet(call: &Call<'_>) -> Result<(), Error> {
    if call.property(0, "css").is_some() == call.property(0, "files").is_some() {
        return Err(Error::CssOrFiles);
    }
    Ok(())
}

/// The path of a file within the extension, which may begin at its root.
fn path_of(file: &str) -> String {
    file.strip_prefix('/').filter(|path| !path.starts_with('/')).unwrap_or(file).to_owned()
}

/// Refuses a file that the extension is known not to have, before the page is looked at.
fn check_files_are_there(browser: &Browser, call: &Call<'_>) -> Result<(), Error> {
    let Some(extension) = browser.extension(&call.caller.extension) else { return Ok(()) };
    let mut files = call.texts(0, "files").into_iter();
    let missing = files.find(|file| !extension.has_file(file));
    missing.map_or(Ok(()), |file| Err(Error::NoFile(path_of(file))))
}

/// Files are named, none twice, and each ends as one of its kind does.
fn check_files(
    call: &Call<'_>,
    endings: &[&str],
    other_kind: fn(String) -> Error,
) -> Result<(), Error> {
    if call.property(0, "files").is_none() {
        return Ok(());
    }
    let files = call.texts(0, "files");
    if files.is_empty() {
        return Err(Error::NoFiles);
    }
    for (at, file) in files.iter().enumerate() {
        if file.is_empty() {
            return Err(Error::NoFile(String::new()));
        }
        if files.iter().take(at).any(|other| path_of(other) == path_of(file)) {
            return Err(Error::DuplicateFile((*file).to_owned()));
        }
        if !ends_as(file, endings) {
            return Err(other_kind((*file).to_owned()));
        }
    }
    Ok(())
}

/// True if the name of a file has one of these endings.
fn ends_as(file: &str, endings: &[&str]) -> bool {
    let is_end = |(_, end): (&str, &str)| endings.iter().any(|it| end.eq_ignore_ascii_case(it));
    file.trim_end_matches('/').rsplit_once('.').is_some_and(is_end)
}

/// The frames that a call means, of a tab that the caller sees.
fn target<'c>(browser: &Browser, call: &Call<'c>) -> Result<Target<'c>, Error> {
    let target = call.property(0, "target");
    let member = |name: &str| target.and_then(|target| target.property(name));
    let tab = member("tabId").and_then(JsValue::integer).unwrap_or(TAB_ID_NONE);
    let is_true = |name| matches!(member(name), Some(JsValue::Bool(true)));
    let list = |name| match member(name) {
        Some(JsValue::Array(items)) => Some(items),
        _ => None,
    };
    let frames = match (is_true("allFrames"), list("frameIds"), list("documentIds")) {
        (true, None, None) => FrameChoice::All,
        (true, ..) => FrameChoice::AllAndSome,
        (false, Some(_), Some(_)) => FrameChoice::FramesAndDocuments,
        (false, Some(frames), None) => {
            FrameChoice::Frames(frames.iter().filter_map(JsValue::integer).collect())
        }
        (false, None, Some(documents)) => {
            FrameChoice::Documents(documents.iter().filter_map(JsValue::text).collect())
        }
        (false, None, None) => FrameChoice::Outermost,
    };
    let tab = call.tab(browser, tab).map_err(|_| Error::NoTabToInject(tab))?.id;
    Ok(Target { tab, frames })
}
