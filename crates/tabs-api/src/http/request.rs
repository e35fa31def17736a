//! Readers of requests: query parameters, bodies, arguments, and the position that a client goes on from.

use bytes::Bytes;
use http::request::Parts as Head;
use http_body_util::{BodyExt, Limited};
use triptych_core::host::{BoxError, RequestContext, Stopping};

use super::BODY_BYTES_MAX;
use super::profile::Since;
use super::refusal::Refusal;
use crate::js_value::JsValue;
use crate::operation::{OPERATIONS, Operation};

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
        serde_json::from_slice(body).map_err(|error| Refusal::BadBody(error.to_string()))?;
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

/// The position at which a client goes on: the query says it, or the header that event sources send by themselves.
pub(super) fn since(head: &Head) -> Since {
    let header = head.headers.get("last-event-id");
    let header = header.and_then(|value| value.to_str().ok().map(str::to_owned));
    let number = |text: String| text.parse().ok();
    Since {
        seq: parameter(head, "since").or(header).and_then(number),
        session: parameter(head, "session").and_then(number),
    }
}

pub(super) fn stopping(head: &Head) -> Stopping {
    let context = head.extensions.get::<RequestContext>();
    context.map_or_else(Stopping::never, |context| context.stopping.clone())
}
