//! Readers of requests: query parameters, bodies, arguments, and the position that a client goes on from.

use std::str::FromStr;

use bytes::Bytes;
use http::request::Parts as Head;
use http_body_util::{BodyExt, Limited};
use triptych_core::host::{BoxError, RequestContext, Stopping};

use super::BODY_BYTES_MAX;
use super::profile::Since;
use super::refusal::Refusal;
use crate::id::TabId;
use crate::js_value::JsValue;
use crate::json_text;
use crate::operation::{Command, OPERATIONS, Operation, Style};

/// A query parameter, decoded.
pub(super) fn parameter(head: &Head, name: &str) -> Option<String> {
    let query = head.uri.query()?;
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

impl Operation {
    /// The operation of `/v1/<namespace>/<name>`.
    pub(super) fn of_path(path: &str) -> Option<&'static Self> {
        let (space, name) = path.strip_prefix("/v1/")?.split_once('/')?;
        let is_it = |row: &&Self| row.name.split_once('.') == Some((space, name));
        OPERATIONS.iter().find(is_it)
    }
}

/// Arguments as a list by index, or as an object by name. No body is no argument.
pub(super) fn arguments(row: &Operation, body: &Bytes) -> Result<Vec<JsValue>, Refusal> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Vec::new());
    }
    let given: JsValue =
        json_text::read(body).map_err(|error| Refusal::BadBody(error.to_string()))?;
    match given.with_special_values() {
        JsValue::Array(given) => Ok(given),
        JsValue::Object(members) => {
            let names: Vec<_> = row.parameters.iter().map(|parameter| parameter.name).collect();
            let mut given = vec![JsValue::Undefined; names.len()];
            for (name, value) in members {
                let index = names.iter().position(|known| *known == name);
                let known = || format!("{} takes {}", row.name, names.join(", "));
                let slot = index.and_then(|index| given.get_mut(index));
                *slot.ok_or_else(|| Refusal::BadBody(known()))? = value;
            }
            while given.last().is_some_and(JsValue::is_absent) {
                given.pop();
            }
            Ok(given)
        }
        _ => {
            Err(Refusal::BadBody("it is a list of arguments, or an object of them by name".into()))
        }
    }
}

/// The operation that opens a port, which only a frame of its own type does.
pub(super) const PORT_OPENER: &str = "tabs.connect";

/// True for a call that would open a port with nobody to hear what comes through it. Wrong arguments are told as those of any call.
pub(super) fn opens_port(name: &str, given: &[JsValue], style: Style) -> bool {
    name == PORT_OPENER && Command::read(name, given, style).is_ok()
}

/// The whole body, within its limit.
pub(super) async fn read<B>(body: B) -> Result<Bytes, Refusal>
where
    B: http_body::Body<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
{
    match Limited::new(body, BODY_BYTES_MAX).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Err(Refusal::BodyTooLarge(BODY_BYTES_MAX))
        }
        Err(error) => Err(Refusal::BadBody(error.to_string())),
    }
}

/// A query parameter that is a number, where there is one.
fn number<N: FromStr>(
    head: &Head,
    name: &'static str,
    expected: &'static str,
) -> Result<Option<N>, Refusal> {
    let text = parameter(head, name);
    let read = text.map(|text| text.parse().map_err(|_| Refusal::BadParameter(name, expected)));
    read.transpose()
}

/// The position at which a client goes on: that of the header which event sources send by themselves when they come back, else that of the query, which
/// stays as it was at first.
pub(super) fn since(head: &Head) -> Result<Since, Refusal> {
    let seq = number(head, "since", "the seq of an event, a whole number")?;
    let session = number(head, "session", "the session that the first frame named, a number")?;
    let last = head.headers.get("last-event-id").and_then(|value| value.to_str().ok());
    // An event source sends what it was given last, which may be another server's: it is told what it missed, not refused.
    Ok(last.and_then(last_event).unwrap_or(Since { seq, session }))
}

/// The position that the id of an event names: with its session, or without one that of this run of the service.
fn last_event(id: &str) -> Option<Since> {
    let (session, seq) = match id.split_once('-') {
        Some((session, seq)) => (Some(session.parse().ok()?), seq),
        None => (None, id),
    };
    Some(Since { seq: Some(seq.parse().ok()?), session })
}

/// The tab of the extension page that a request comes from, where it names one.
pub(super) fn page(head: &Head) -> Result<Option<TabId>, Refusal> {
    Ok(number(head, "contextTabId", "the id of a tab, a whole number")?.map(TabId))
}

/// The style in which a call is answered.
pub(super) fn style(head: &Head) -> Result<Style, Refusal> {
    let style = Style::named(parameter(head, "style").as_deref());
    style.ok_or(Refusal::BadParameter("style", "callback or promise"))
}

pub(super) fn stopping(head: &Head) -> Stopping {
    let context = head.extensions.get::<RequestContext>();
    context.map_or_else(Stopping::never, |context| context.stopping.clone())
}
