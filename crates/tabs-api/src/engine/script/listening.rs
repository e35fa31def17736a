//! Scripts that listen for their page being left, or that no longer do.

use std::collections::BTreeSet;

use super::action_of;
use crate::engine::listener::{Handler, LeaveListener, Moment, Scope};
use crate::engine::script_text::{quoted, statements};

/// A listener that a script adds to its page, or takes away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerChange {
    /// The listener.
    pub listener: LeaveListener,
    /// True if it is added.
    pub listens: bool,
}

impl ListenerChange {
    /// Makes the change to the listeners of a page.
    pub(crate) fn apply(self, listeners: &mut BTreeSet<LeaveListener>) {
        if self.listens {
            listeners.insert(self.listener);
        } else {
            listeners.remove(&self.listener);
        }
    }
}

/// The words by which a handler of `beforeunload` has the browser ask its user.
const ASKING: [&str; 3] = ["preventDefault", "returnValue", "return "];

/// Something of a page that has listeners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Window(Scope),
    Document(Scope),
    /// The body, whose properties are the window's but for those of moments that the document alone is told of.
    Body(Scope),
}

/// The changes that a script makes; `None` for one that makes none, or does something else.
pub(super) fn listener_changes(code: &str) -> Option<Vec<ListenerChange>> {
    let (mut changes, mut others) = (Vec::new(), Vec::new());
    for statement in statements(code) {
        match change_of(statement) {
            Some(change) => changes.push(change),
            None => others.push(statement),
        }
    }
    let is_all = || others.into_iter().all(|statement| action_of(statement).is_none());
    (!changes.is_empty() && is_all()).then_some(changes)
}

fn change_of(statement: &str) -> Option<ListenerChange> {
    let called = |call: &str| {
        let (before, given) = statement.split_once(call)?;
        let (name, handler) = given.split_once(',')?;
        Some((owner_of(before)?, quoted(name)?, handler.trim()))
    };
    let (added, removed) = (called("addEventListener("), called("removeEventListener("));
    let listens = added.is_some();
    let Some((owner, name, handler)) = added.or(removed) else { return assignment(statement) };
    let moment = Moment::of(&name)?;
    let scope = match owner {
        Owner::Window(scope) => scope,
        Owner::Document(scope) if moment == Moment::Hide => scope,
        Owner::Document(_) | Owner::Body(_) => return None,
    };
    let handler = handler.split([',', ')']).next().unwrap_or_default().trim();
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.');
    let named = !handler.is_empty() && handler.chars().all(is_name);
    // A function without a name is never that of an earlier call.
    let by = match named {
        true => Handler::Named(handler.to_owned()),
        false if listens => Handler::Unnamed,
        false => return None,
    };
    let asks = asks(moment, statement);
    (!asks).then_some(ListenerChange { listener: LeaveListener { scope, moment, by }, listens })
}

/// Reads `onunload=…` and its kin.
fn assignment(statement: &str) -> Option<ListenerChange> {
    let (place, handler) = statement.split_once('=')?;
    let (owner, name) = place.trim().rsplit_once('.').unwrap_or(("", place.trim()));
    let moment = Moment::of(name.strip_prefix("on")?)?;
    let scope = match (owner_of(owner)?, moment) {
        (Owner::Document(scope), Moment::Hide) => scope,
        (Owner::Window(scope) | Owner::Body(scope), moment) if moment != Moment::Hide => scope,
        _ => return None,
    };
    let listens = !matches!(handler.trim(), "null" | "undefined");
    let listener = LeaveListener { scope, moment, by: Handler::Property };
    (!asks(moment, handler)).then_some(ListenerChange { listener, listens })
}

/// True for a handler that asks, whose answers nobody gives here.
fn asks(moment: Moment, code: &str) -> bool {
    moment == Moment::Ask && ASKING.iter().any(|word| code.contains(word))
}

fn owner_of(place: &str) -> Option<Owner> {
    let place = place.trim().trim_end_matches('.');
    let inner = ["window", "self", "globalThis"].iter().find_map(|own| place.strip_prefix(own));
    let place = inner.unwrap_or(place).trim_start_matches('.');
    let (scope, place) = match place.strip_prefix("frames[").and_then(|rest| rest.split_once(']')) {
        Some((frame, rest)) => (Scope::Frame(frame.parse().ok()?), rest.trim_start_matches('.')),
        None => (Scope::Page, place),
    };
    match place {
        "" | "window" => Some(Owner::Window(scope)),
        "document" => Some(Owner::Document(scope)),
        "document.body" => Some(Owner::Body(scope)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(code: &str) -> Vec<(Scope, Moment, Handler, bool)> {
        let changes = listener_changes(code).unwrap_or_default();
        let read = |change: ListenerChange| {
            let LeaveListener { scope, moment, by } = change.listener;
            (scope, moment, by, change.listens)
        };
        changes.into_iter().map(read).collect()
    }

    #[test]
    fn what_listens_for_a_page_being_left_is_a_listener_or_a_property_of_any_frame() {
        let named = || Handler::Named("f".into());
        for (code, change) in [
            ("addEventListener('unload',()=>{})", (Scope::Page, Moment::Leave, Handler::Unnamed)),
            ("window.addEventListener(\"pagehide\",f)", (Scope::Page, Moment::PageHide, named())),
            ("addEventListener('pagehide', f, true);0", (Scope::Page, Moment::PageHide, named())),
            ("window.onunload=()=>{}", (Scope::Page, Moment::Leave, Handler::Property)),
            ("document.body.onunload = f", (Scope::Page, Moment::Leave, Handler::Property)),
            ("onbeforeunload=()=>{}", (Scope::Page, Moment::Ask, Handler::Property)),
            (
                "frames[1].addEventListener('unload',(e)=>{g(e);h()})",
                (Scope::Frame(1), Moment::Leave, Handler::Unnamed),
            ),
            (
                "document.addEventListener('visibilitychange',f)",
                (Scope::Page, Moment::Hide, named()),
            ),
        ] {
            let (scope, moment, by) = change;
            assert_eq!(read(code), [(scope, moment, by, true)], "{code}");
        }
        for code in [
            "document.addEventListener('unload',f)",
            "x.addEventListener('unload',f)",
            "addEventListener('click',()=>{addEventListener('unload',f)})",
            "addEventListener('beforeunload',(e)=>{e.preventDefault()})",
            "onbeforeunload=()=>{return 'sure?'}",
            "window.f=()=>{}",
        ] {
            assert_eq!(read(code), [], "{code}");
        }
    }

    #[test]
    fn of_a_script_that_does_something_else_too_no_listener_is_seen() {
        assert_eq!(read("document.title='x';addEventListener('unload',f)"), []);
    }

    #[test]
    fn a_listener_ends_with_its_removal_and_one_without_a_name_cannot_be_removed() {
        let mut listeners = BTreeSet::new();
        let mut listening = |code: &str| {
            let changes = listener_changes(code).unwrap_or_default();
            changes.into_iter().for_each(|change| change.apply(&mut listeners));
            listeners.len()
        };
        assert_eq!(listening("window.f=()=>{};addEventListener('unload',f);onpagehide=f"), 2);
        assert_eq!(listening("removeEventListener('unload',()=>{})"), 2);
        assert_eq!(listening("removeEventListener('unload',f)"), 1);
        assert_eq!(listening("window.onpagehide=null"), 0);
    }
}
