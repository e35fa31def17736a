//! The request that a client sends a user with, and the way back.

use triptych_core::id::Ids;
use triptych_core::kv::{StoreError, Tx};
use triptych_core::time::Timestamp;

use super::grant::{self, CLIENTS, Challenge, Client, Code, Grant};
use super::{Form, OauthError};

/// A request that may be put to a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizationRequest {
    /// The client's id.
    pub client: String,
    /// Address that the user goes to afterwards.
    pub redirect: String,
    /// The scopes.
    pub scope: String,
    /// The client's own value, given back as it came.
    pub state: Option<String>,
    challenge: Option<Challenge>,
    offline: bool,
    nonce: Option<String>,
    project: Option<String>,
    /// True if the user must not be asked (`prompt=none`).
    pub prompt_none: bool,
    /// The account that the client thinks of.
    pub login_hint: Option<String>,
}

/// A refusal of a request, and who is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// To the user: the client, or the way back, cannot be trusted.
    ToUser(OauthError),
    /// To the client, at this address.
    ToClient(String),
}

impl AuthorizationRequest {
    /// Reads and checks the parameters of an authorization request (RFC 6749 §4.1.1).
    ///
    /// # Errors
    /// `ToUser` with `InvalidRequest`, `InvalidClient`, `RedirectMismatch`, `Store`; `ToClient` for everything after.
    pub fn read(tx: &mut Tx<'_>, form: &Form) -> Result<Self, Refusal> {
        let (id, redirect, client) = Self::read_client(tx, form).map_err(Refusal::ToUser)?;
        let state = form.get("state").map(str::to_owned);
        let read = || {
            let response_type = form.required("response_type")?;
            if response_type != "code" {
                return Err(OauthError::UnsupportedResponseType(response_type.to_owned()));
            }
            let scope = form.required("scope")?;
            grant::scopes_of(scope)?;
            let challenge = match (form.get("code_challenge"), form.get("code_challenge_method")) {
                (None, _) => None,
                (Some(text), None | Some("plain")) => {
                    Some(Challenge { text: text.to_owned(), hashed: false })
                }
                (Some(text), Some("S256")) => {
                    Some(Challenge { text: text.to_owned(), hashed: true })
                }
                (Some(_), Some(method)) => {
                    return Err(OauthError::InvalidRequest(format!(
                        "Unknown code_challenge_method: {method}"
                    )));
                }
            };
            Ok((scope.to_owned(), challenge))
        };
        let (scope, challenge) = read()
            .map_err(|error| Refusal::ToClient(with_error(&redirect, &error, state.as_deref())))?;
        Ok(Self {
            client: id,
            redirect,
            scope,
            state,
            challenge,
            offline: form.get("access_type") == Some("offline"),
            nonce: form.get("nonce").map(str::to_owned),
            project: client.project,
            prompt_none: form.get("prompt") == Some("none"),
            login_hint: form.get("login_hint").map(str::to_owned),
        })
    }

    fn read_client(tx: &mut Tx<'_>, form: &Form) -> Result<(String, String, Client), OauthError> {
        let id = form.required("client_id")?;
        let client = CLIENTS.peek(tx, &id.to_owned())?.ok_or(OauthError::InvalidClient)?;
        let redirect = form.required("redirect_uri")?;
        if !client.redirects.iter().any(|allowed| redirect_matches(allowed, redirect)) {
            return Err(OauthError::RedirectMismatch);
        }
        Ok((id.to_owned(), redirect.to_owned(), client))
    }

    /// Records that the user of `account` allows it, and gives the address to go back to.
    ///
    /// # Errors
    /// As the store.
    pub fn allow(
        &self,
        tx: &mut Tx<'_>,
        ids: &mut dyn Ids,
        now: Timestamp,
        account: &str,
    ) -> Result<String, StoreError> {
        let mut id = [0; 16];
        ids.fill(&mut id);
        let granted = Grant {
            client: self.client.clone(),
            account: account.to_owned(),
            scope: self.scope.clone(),
            project: self.project.clone(),
        };
        let code = Code {
            id,
            grant: granted,
            redirect: self.redirect.clone(),
            challenge: self.challenge.clone(),
            offline: self.offline,
            nonce: self.nonce.clone(),
            expires: 0,
            used: false,
        };
        let code = grant::make_code(tx, ids, now, code)?;
        Ok(with_query(
            &self.redirect,
            &[
                ("state", self.state.as_deref()),
                ("code", Some(&code)),
                ("scope", Some(&self.scope)),
            ],
        ))
    }

    /// The address to go back to where the user does not allow it.
    #[must_use]
    pub fn deny(&self, error: &OauthError) -> String {
        with_error(&self.redirect, error, self.state.as_deref())
    }
}

/// Tells whether a client that may send users to `allowed` may send them to `asked`: the same text, or both this machine over http with any
/// name of it, port and path, for a program on the user's machine takes the port that is free (RFC 8252 §7.3) and libraries spell it differently.
fn redirect_matches(allowed: &str, asked: &str) -> bool {
    allowed == asked || (is_loopback(allowed) && is_loopback(asked))
}

fn is_loopback(address: &str) -> bool {
    let Some(rest) = address.strip_prefix("http://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    ["localhost", "127.0.0.1", "[::1]"].into_iter().any(|host| {
        authority.strip_prefix(host).is_some_and(|port| {
            port.is_empty()
                || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
        })
    })
}

fn with_error(redirect: &str, error: &OauthError, state: Option<&str>) -> String {
    use triptych_core::error::Coded;
    with_query(
        redirect,
        &[
            ("error", Some(error.row().code)),
            ("error_description", Some(&error.to_string())),
            ("state", state),
        ],
    )
}

fn with_query(address: &str, pairs: &[(&str, Option<&str>)]) -> String {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    let (address, fragment) = address
        .split_once('#')
        .map_or((address, None), |(address, fragment)| (address, Some(fragment)));
    let mut out = address.to_owned();
    for (name, value) in pairs {
        let Some(value) = value else { continue };
        out.push(if out.contains('?') { '&' } else { '?' });
        out.push_str(name);
        out.push('=');
        out.extend(utf8_percent_encode(value, NON_ALPHANUMERIC));
    }
    if let Some(fragment) = fragment {
        out.push('#');
        out.push_str(fragment);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::id::SeededIds;
    use triptych_core::kv::{self, Memory, StoreError};

    fn store() -> Memory {
        let store = Memory::new();
        kv::run_blocking(&store, &mut SeededIds::from_number(1), 1, |tx, _| {
            let redirects =
                vec!["https://app.example/back".to_owned(), "http://localhost".to_owned()];
            CLIENTS.put(tx, &"app".to_owned(), &Client { secret: None, redirects, project: None });
            Ok::<_, StoreError>(())
        })
        .unwrap();
        store
    }

    fn read(store: &Memory, pairs: &[(&str, &str)]) -> Result<AuthorizationRequest, Refusal> {
        let pairs =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        AuthorizationRequest::read(&mut Tx::new(store), &Form::new(pairs).unwrap())
    }

    #[test]
    fn a_user_is_sent_back_only_to_an_address_of_the_client() {
        let store = store();
        for (redirect, allowed) in [
            ("https://app.example/back", true),
            ("http://localhost:8085/", true),
            ("http://localhost", true),
            ("https://app.example/back/x", false),
            ("https://localhost/", false),
            ("http://localhost.evil.example/", false),
            ("http://localhost:80@evil.example/", false),
            ("http://127.0.0.1:1/", true),
            ("http://[::1]:8085/back", true),
            ("http://127.0.0.2:1/", false),
        ] {
            let read = read(
                &store,
                &[
                    ("client_id", "app"),
                    ("redirect_uri", redirect),
                    ("response_type", "code"),
                    ("scope", "openid"),
                ],
            );
            assert_eq!(read.is_ok(), allowed, "{redirect}");
            if !allowed {
                assert_eq!(read, Err(Refusal::ToUser(OauthError::RedirectMismatch)), "{redirect}");
            }
        }
        assert_eq!(
            read(&store, &[("client_id", "other"), ("redirect_uri", "http://localhost")]),
            Err(Refusal::ToUser(OauthError::InvalidClient))
        );
    }

    #[test]
    fn later_faults_are_told_to_the_client_with_its_state() {
        let base =
            [("client_id", "app"), ("redirect_uri", "http://localhost/?a=b"), ("state", "x y")];
        for (more, code) in [
            (vec![("response_type", "token")], "unsupported_response_type"),
            (vec![("response_type", "code"), ("scope", "drive")], "invalid_scope"),
            (
                vec![
                    ("response_type", "code"),
                    ("scope", "openid"),
                    ("code_challenge", "c"),
                    ("code_challenge_method", "S1"),
                ],
                "invalid_request",
            ),
        ] {
            let Err(Refusal::ToClient(address)) =
                read(&store(), &[base.as_slice(), &more].concat())
            else {
                panic!("{code}")
            };
            let sent = address.strip_prefix("http://localhost/?a=b&error=").unwrap();
            assert!(
                sent.replace("%5F", "_").starts_with(code) && sent.ends_with("&state=x%20y"),
                "{sent}"
            );
        }
    }
}
