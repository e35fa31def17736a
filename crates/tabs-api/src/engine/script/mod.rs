//! Scripts of simulated pages, as far as their code is known: where they go, and what they open and close.

mod listening;
mod opening;

use std::time::Duration;

pub use self::listening::ListenerChange;
use self::listening::listener_changes;
use self::opening::{link_script, opener_script, opening_script};
use crate::engine::Opening;
use crate::engine::script_text::{quoted, quoted_arguments};

/// The longest delay of a refresh that counts as a redirect.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The script of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// Goes to another page.
    Go(String),
    /// Changes the title.
    Title(String),
    /// Changes the icon.
    Icon(String),
    /// Goes to another page in place of its own.
    Replace(String),
    /// Loads the page again.
    Reload,
    /// Goes so many pages forward, or back.
    Traverse(i64),
    /// Changes the URL within the document.
    Push(String),
    /// Changes the URL within the document, without a new entry.
    ReplaceState(String),
    /// Sets the fragment of the URL.
    Fragment(String),
    /// Closes its tab.
    Close,
    /// Opens a page; without a user's gesture that is blocked.
    Open(Opening),
    /// Opens a page, and closes its tab at once, or the one that has its name.
    OpenAndClose(Opening),
    /// Clicks a link with keys held or the middle button.
    OpenLink {
        /// Its address.
        url: String,
        /// True if it opens in a window of its own.
        is_in_window: bool,
    },
    /// Gives its tab a name.
    Name(String),
    /// Goes to a page in the tab whose page opened this one.
    GoInOpener {
        /// The page.
        url: String,
        /// True if it takes the place of the one that is there.
        replaces: bool,
    },
    /// Closes the tab whose page opened this one.
    CloseOpener,
    /// Runs code in the page that opened this one, as it may where both are of one origin.
    InOpener(String),
    /// Listens for its page being left, or no longer does.
    Listen(Vec<ListenerChange>),
    /// Sends its first frame to another page.
    Frame(String),
    /// Plays a tone.
    Play(Duration),
    /// Tells the user something, and goes on once that was taken away.
    Alert(Option<Box<Self>>),
    /// Asks the user something, and goes on with what follows from the answer.
    Ask {
        /// The script that follows where the user accepts.
        accepted: Option<Box<Self>>,
        /// The one that follows where the user does not, or where the question is taken away.
        refused: Option<Box<Self>>,
    },
}

/// Reads `t=300: location.href='/b.html'` and its kin: the time after which a script runs, and what it does.
#[must_use]
pub fn script_of(text: &str) -> Option<(Duration, Script)> {
    if let Some((millis, action)) = text.strip_prefix("t=").and_then(|rest| rest.split_once(": ")) {
        return Some((Duration::from_millis(millis.parse().ok()?), action_of(action)?));
    }
    if let Some(rest) = text.strip_prefix("setTimeout(()=>") {
        let (action, millis) = rest.split_once(')').map(|_| rest)?.rsplit_once(',')?;
        let millis = millis.split(')').next()?.trim().parse().ok()?;
        let action = action.trim().trim_start_matches('{').trim_end_matches('}');
        return Some((Duration::from_millis(millis), action_of(action)?));
    }
    if let Some(code) = text.strip_prefix("javascript:") {
        return Some((Duration::ZERO, address_script(code)?));
    }
    if let Some((_, given)) = text.split_once("<meta http-equiv=refresh content=") {
        let (delay, target) = refresh(&quoted(given)?)?;
        return Some((delay, refreshed(delay, target)));
    }
    Some((Duration::ZERO, action_of(text)?))
}

/// `5; url=/next`, as `<meta http-equiv=refresh>` has it. One without an address reloads, which is not followed.
pub(super) fn refresh(content: &str) -> Option<(Duration, String)> {
    let (delay, rest) = content.split_once([';', ','])?;
    let seconds: f64 = delay.trim().parse().ok()?;
    let (name, target) = rest.split_once('=')?;
    let target = target.trim().trim_matches(['"', '\'']);
    let delay = Duration::try_from_secs_f64(seconds).ok()?;
    (name.trim().eq_ignore_ascii_case("url") && !target.is_empty())
        .then(|| (delay, target.to_owned()))
}

/// The script of a refresh that a page declares. One that comes at once takes the place of the page.
pub(super) fn refreshed(delay: Duration, target: String) -> Script {
    if delay <= AT_ONCE { Script::Replace(target) } else { Script::Go(target) }
}

fn action_of(action: &str) -> Option<Script> {
    if let Some(rest) = action.strip_prefix("alert(") {
        let (_, behind) = rest.split_once(");").unwrap_or((rest, ""));
        return Some(Script::Alert(action_of(behind).map(Box::new)));
    }
    if let Some(changes) = listener_changes(action) {
        return Some(Script::Listen(changes));
    }
    if let Some(asking) = asking_script(action) {
        return Some(asking);
    }
    if let Some((_, link)) = action.split_once("a.href=") {
        return link_script(link);
    }
    if action.contains(".submit()") {
        return form_script(action);
    }
    if let Some(rest) = action.strip_prefix("document.querySelector(") {
        return element_script(rest);
    }
    if let Some((_, code)) = action.split_once("opener.") {
        return opener_script(code);
    }
    if action.starts_with("window.open") {
        return opening_script(action);
    }
    if let Some(target) = assigned(action, "location.href").or_else(|| assigned(action, "location"))
    {
        return match target.strip_prefix("javascript:") {
            Some(code) => address_script(code),
            None => Some(Script::Go(target)),
        };
    }
    if let Some(fragment) = assigned(action, "location.hash") {
        return Some(Script::Fragment(format!("#{}", fragment.trim_start_matches('#'))));
    }
    if let Some(name) = assigned(action, "window.name") {
        return Some(Script::Name(name));
    }
    if let Some(title) = assigned(action, "document.title") {
        return Some(Script::Title(title));
    }
    if let Some((_, target)) = action.split_once("history.pushState -> ") {
        return Some(Script::Push(target.to_owned()));
    }
    if let Some(steps) = action.strip_prefix("history.go(") {
        return Some(match steps.split(')').next()?.trim().parse().unwrap_or(0) {
            0 => Script::Reload,
            steps => Script::Traverse(steps),
        });
    }
    if let Some(rest) = action.strip_prefix("plays a tone for ") {
        let seconds = rest.split(' ').next()?.parse().ok()?;
        return Some(Script::Play(Duration::try_from_secs_f64(seconds).ok()?));
    }
    let (name, _) = action.split_once('(')?;
    Some(match name {
        "location.replace" => Script::Replace(quoted(action)?),
        "location.assign" => Script::Go(quoted(action)?),
        "location.reload" => Script::Reload,
        "history.pushState" => Script::Push(quoted_arguments(action).pop()?),
        "history.replaceState" => Script::ReplaceState(quoted_arguments(action).pop()?),
        "history.back" => Script::Traverse(-1),
        "history.forward" => Script::Traverse(1),
        "window.close" => Script::Close,
        _ => return None,
    })
}

/// Reads a script with `confirm` or `prompt` in it: what it does with each of the two results in their place.
fn asking_script(action: &str) -> Option<Script> {
    let (at, name) =
        ["confirm(", "prompt("].iter().find_map(|name| action.find(name).map(|at| (at, *name)))?;
    let (before, rest) = (action.get(..at)?, action.get(at + name.len()..)?);
    let (given, behind) = rest.split_once(')')?;
    let (accepted, refused) = match name {
        "confirm(" => ("true", "false"),
        // The text that stands in the field at first.
        _ => {
            let text = given.split_once(',').map_or("", |(_, text)| text.trim());
            (text.trim_matches(['\'', '"']), "null")
        }
    };
    let with = |result: &str| action_of(&format!("{before}'{result}'{behind}")).map(Box::new);
    Some(Script::Ask { accepted: with(accepted), refused: with(refused) })
}

/// The script of a `javascript:` address. Where it results in a text, as an assignment does that nothing follows, that ends whatever the script began.
fn address_script(code: &str) -> Option<Script> {
    let results_in_text = code.trim_end().ends_with(['\'', '"']);
    action_of(code).filter(|_| !results_in_text).or_else(|| document_script(code))
}

/// The text that a `javascript:` address results in, which takes the place of the document: its title shows.
fn document_script(code: &str) -> Option<Script> {
    let mark = code.chars().next().filter(|mark| matches!(mark, '\'' | '"'))?;
    let (text, _) = code.get(1..)?.split_once(mark)?;
    let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    title.map(|(title, _)| Script::Title(title.to_owned()))
}

/// A form that is sent, whose fields are empty.
fn form_script(action: &str) -> Option<Script> {
    let (_, target) = action.split_once(".action=")?;
    let target = quoted(target)?;
    let method = action.split_once(".method=").and_then(|(_, rest)| quoted(rest));
    if method.is_some_and(|method| method.eq_ignore_ascii_case("post")) {
        return Some(Script::Go(target));
    }
    let page = target.split(['?', '#']).next().unwrap_or_default();
    Some(Script::Go(format!("{page}?")))
}

/// An address that is given to the icon of a page, or to a frame in it.
fn element_script(action: &str) -> Option<Script> {
    let (element, given) = action.split_once(").")?;
    let target = quoted(given)?;
    match quoted(element)?.as_str() {
        "link[rel=icon]" if given.starts_with("href=") => Some(Script::Icon(target)),
        "iframe" if given.starts_with("src=") => Some(Script::Frame(target)),
        _ => None,
    }
}

/// The quoted text that is assigned to a name.
fn assigned(action: &str, name: &str) -> Option<String> {
    let rest = action.strip_prefix(name)?.trim_start().strip_prefix('=')?;
    quoted(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Script> {
        script_of(text).map(|(_, script)| script)
    }

    #[test]
    fn what_pages_do_is_read() {
        let opening = |url: &str, name: Option<&str>, is_noopener| {
            let name = name.map(str::to_owned);
            Script::Open(Opening { url: url.into(), name, is_popup: false, is_noopener })
        };
        let link = |target: &str| {
            format!(
                "((a)=>{{a.href=\"/b.html\";{target}document.body.append(a);a.click()}})(document.createElement(\"a\"));0"
            )
        };
        for (text, script) in [
            ("location.href=\"/b.html\";0", Script::Go("/b.html".into())),
            ("location='/b.html'", Script::Go("/b.html".into())),
            ("location.href=\"javascript:document.title='J';void 0\";0", Script::Title("J".into())),
            ("location.href=\"javascript:'<title>K</title>x'\";0", Script::Title("K".into())),
            ("location.hash=\"h1\";0", Script::Fragment("#h1".into())),
            ("document.title=\"\";0", Script::Title(String::new())),
            ("history.go(-2);0", Script::Traverse(-2)),
            (
                "opener&&(opener.location=\"/c.html\");0",
                Script::GoInOpener { url: "/c.html".into(), replaces: false },
            ),
            ("window.name=\"me\";0", Script::Name("me".into())),
            ("window.open(\"/b.html\",\"one\")&&0", opening("/b.html", Some("one"), false)),
            (
                "((f)=>{f.method=\"post\";f.action=\"/b.html\";f.submit()})(0);0",
                Script::Go("/b.html".into()),
            ),
            (
                "document.querySelector(\"link[rel=icon]\").href=\"/i.png\";0",
                Script::Icon("/i.png".into()),
            ),
            (&link(""), Script::Go("/b.html".into())),
            (&link("a.target=\"_blank\";"), opening("/b.html", None, true)),
            (&link("a.target=\"one\";"), opening("/b.html", Some("one"), false)),
        ] {
            assert_eq!(read(text), Some(script), "{text}");
        }
        let form = "f.method=\"post\";f.action=\"/b.html\";document.body.append(f);f.submit()";
        for (text, script) in [
            (form, Script::Go("/b.html".into())),
            ("f.action='/b.html?x';f.submit()", Script::Go("/b.html?".into())),
            (
                "document.querySelector('link[rel=icon]').href='/i.png';0",
                Script::Icon("/i.png".into()),
            ),
            ("document.querySelector('iframe').src='/c.html';0", Script::Frame("/c.html".into())),
        ] {
            assert_eq!(read(text), Some(script), "{text}");
        }
        assert_eq!(
            read("javascript:location.href='/b.html';0"),
            Some(Script::Go("/b.html".into()))
        );
        assert_eq!(read("javascript:location.href='/b.html'"), None);
        assert_eq!(read("print()"), None);
    }

    #[test]
    fn what_stands_behind_an_alert_waits_for_its_end() {
        let title = Script::Title("after".into());
        for (text, rest) in [
            ("alert(1)", None),
            ("setTimeout(()=>{alert(1)},0);0", None),
            ("setTimeout(()=>{alert(1);document.title='after'},0);0", Some(Box::new(title))),
        ] {
            assert_eq!(read(text), Some(Script::Alert(rest)), "{text}");
        }
    }

    #[test]
    fn what_a_question_results_in_decides_how_its_script_goes_on() {
        let titled = |title: &str| Some(Box::new(Script::Title(title.into())));
        for (text, accepted, refused) in [
            ("document.title=String(confirm('sure?'))", titled("true"), titled("false")),
            ("document.title=String(prompt(1,2))", titled("2"), titled("null")),
            ("document.title=prompt('name')", titled(""), titled("null")),
            ("confirm(1)", None, None),
        ] {
            assert_eq!(read(text), Some(Script::Ask { accepted, refused }), "{text}");
        }
    }

    #[test]
    fn a_script_may_wait() {
        let wanted = Some((Duration::from_millis(300), Script::Title("Later".into())));
        assert_eq!(script_of("setTimeout(()=>{document.title=\"Later\"},300);0"), wanted);
        assert_eq!(script_of("t=300: document.title='Later'"), wanted);
        let refresh =
            "document.head.append('<meta http-equiv=refresh content=\"5;url=/b.html\">');0";
        let wanted = Some((Duration::from_secs(5), Script::Go("/b.html".into())));
        assert_eq!(script_of(refresh), wanted);
    }
}
