//! True if a request may be carried out at all, by its row alone: credentials, parameters, parts and filters.

use serde_json::{Map, Value};

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::operation::{Access, Filters, NamedParts, Operation};
use crate::api::parameter::{Kind, Param, Params, boolean};

/// The parameters, parts and filters of a request, checked against its row.
///
/// # Errors
/// In this order: parameters that were withdrawn, the others (see [`Params::read`]), parts, filters, the number of ids.
pub fn check(
    operation: &'static Operation,
    pairs: &[(String, String)],
    strict: bool,
) -> Result<(Params, Vec<&'static str>), Error> {
    check_withdrawn(operation, pairs)?;
    let params = Params::read(operation.params, pairs, strict)?;
    let parts = parts_of(operation, &params)?;
    check_filters(operation, &params)?;
    if params.takes("id") && params.list("id").len() > 50 {
        return Err(Error::TooManyIds);
    }
    Ok((params, parts))
}

/// Refuses a parameter that was withdrawn: an unknown one is passed over, but a client that asks for less than all would take all for what it asked for.
fn check_withdrawn(operation: &Operation, pairs: &[(String, String)]) -> Result<(), Error> {
    let given =
        |name: &&&str| pairs.iter().any(|(given, value)| given == **name && !value.is_empty());
    match operation.withdrawn_params.iter().find(given) {
        Some(name) => Err(Error::WithdrawnParameter(name)),
        None => Ok(()),
    }
}

fn parts_of(operation: &'static Operation, params: &Params) -> Result<Vec<&'static str>, Error> {
    let mut parts = Vec::new();
    let named = if params.takes("part") { params.list("part") } else { &[] };
    for name in named {
        let part = operation.parts.iter().find(|part| part.name == name);
        let part = part.ok_or_else(|| Error::UnknownPart(name.clone()))?;
        if operation.named_parts == NamedParts::Written && !part.writable {
            return Err(Error::UnexpectedPart(name.clone()));
        }
        parts.push(part.name);
    }
    Ok(parts)
}

/// Returns whether a body holds only what `part` names: what it does not name would not be written, and the client would not hear of it.
///
/// # Errors
/// [`Error::UnexpectedPart`].
pub fn check_body(
    operation: &'static Operation,
    parts: &[&'static str],
    body: &Map<String, Value>,
) -> Result<(), Error> {
    if operation.named_parts == NamedParts::Returned {
        return Ok(());
    }
    let stray = operation.parts.iter().find(|part| {
        part.writable
            && part.name != "id"
            && !parts.contains(&part.name)
            && body.get(part.name).is_some_and(|value| !value.is_null())
    });
    match stray {
        Some(part) => Err(Error::UnexpectedPart(part.name.to_owned())),
        None => Ok(()),
    }
}

fn check_filters(operation: &'static Operation, params: &Params) -> Result<(), Error> {
    let (names, least) = match operation.filters {
        Filters::None => return Ok(()),
        Filters::One(names) => (names, 1),
        Filters::AtMostOne(names) => (names, 0),
    };
    let is_boolean = |name: &str| {
        operation.params.iter().any(|param| param.name == name && param.kind == Kind::Boolean)
    };
    let given: Vec<_> = names
        .iter()
        .filter(|name| if is_boolean(name) { params.flag(name) } else { params.has(name) })
        .copied()
        .collect();
    if given.len() < least {
        return Err(Error::NoFilter(names));
    }
    if given.len() > 1 {
        let clash = Error::IncompatibleParameters(given.join(", "));
        return Err(operation.clash.map_or(clash, Error::Rule));
    }
    Ok(())
}

/// Returns whether the credentials of `caller` are enough for the operation.
///
/// # Errors
/// [`Error::Unregistered`], [`Error::LoginRequired`], [`Error::InsufficientScopes`], [`Error::AuthorizationRequired`].
pub fn authorize(
    operation: &'static Operation,
    caller: &Caller,
    pairs: &[(String, String)],
) -> Result<(), Error> {
    if caller.account.is_some() {
        if !caller.scopes.meets(operation.scopes) {
            return Err(Error::InsufficientScopes);
        }
        return Ok(());
    }
    if operation.access == Access::Token {
        return Err(Error::LoginRequired);
    }
    if caller.project.is_none() {
        return Err(Error::Unregistered);
    }
    let asked = |param: &&Param| {
        param.private
            && pairs.iter().any(|(name, value)| {
                name == param.name && !value.is_empty() && boolean(value) != Some(false)
            })
    };
    match operation.params.iter().find(asked) {
        Some(param) => Err(Error::AuthorizationRequired(param.name)),
        None => Ok(()),
    }
}
