//! The way of devices without a browser to their grants (RFC 8628): a device shows a short code, its user answers for it at another device, and
//! meanwhile it asks the token endpoint.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, StoreError, Table, Tx};
use triptych_core::time::Timestamp;

use super::{CLIENTS, Grant, IssuedTokens, SECRETS, Secret};
use crate::account::digest;
use crate::oauth::{Form, OauthError};

/// Paths where devices get their codes: today's and the one that older clients know.
pub const CODE_PATHS: &[&str] = &["/device/code", "/o/oauth2/device/code"];
/// The page where users answer.
pub const VERIFICATION_PATH: &str = "/device";
/// The grant type of a device, and the one that older clients send, with a `code`.
pub const GRANT_TYPES: &[&str] =
    &["urn:ietf:params:oauth:grant-type:device_code", "http://oauth.net/grant_type/device/1.0"];

/// Lifetime of the codes of a device, in seconds.
const LIFE_SECONDS: i64 = 1_800;
/// Seconds that a device waits before it asks again.
const INTERVAL_SECONDS: i64 = 5;
/// Devices that wait for their users at once. Ours.
const WAITING_MAX: usize = 1_000;
/// Letters of a user's code: none that makes a word, or looks like another (RFC 8628 section 6.1).
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
/// Letters that a user's code has.
const CODE_LETTERS: usize = 8;

/// A device that waits for its user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its client.
    pub client: String,
    /// The scopes that it asks for.
    pub scope: String,
    /// The project that its use counts for.
    pub project: Option<String>,
    /// End of the life of its codes, in seconds since 1970.
    pub expires: i64,
    /// The last time that it was told to wait, in seconds since 1970.
    pub asked: Option<i64>,
    /// The answer of its user.
    pub answer: Answer,
}

impl JsonRecord for Device {}

/// The answer of a user to a device's request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// Nothing so far.
    Open,
    /// That it may use this account.
    Allowed(String),
    /// That it may not.
    Denied,
}

/// Devices by the digest of the code that their user enters.
pub const DEVICES: Table<[u8; 32], Device> = Table::new(0x98);

/// The outcome for a device that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Its tokens: its user allowed it.
    Granted(IssuedTokens),
    /// The advice to wait, which has to be committed: what asks sooner is told to slow down.
    Wait,
}

/// Gives a device its two codes: one for itself and one for its user.
///
/// # Errors
/// `InvalidRequest`, `InvalidClient`, `InvalidScope`, `TooManyDevices`, `Store`.
pub fn begin(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    now: Timestamp,
    base: &str,
    form: &Form,
) -> Result<Value, OauthError> {
    let id = form.required("client_id")?.to_owned();
    let client = CLIENTS.peek(tx, &id)?.ok_or(OauthError::InvalidClient)?;
    let scope = form.required("scope")?;
    super::scopes_of(scope)?;
    super::sweep(tx, now)?;
    let (waiting, _) = DEVICES.scan(tx, &DEVICES.span(&()), WAITING_MAX)?;
    if waiting.len() >= WAITING_MAX {
        return Err(OauthError::TooManyDevices);
    }
    let (user_code, key) = loop {
        let code = user_code(ids);
        let key = user_key(&code);
        if DEVICES.get(tx, &key)?.is_none() {
            break (code, key);
        }
    };
    let device = Device {
        client: id,
        scope: scope.to_owned(),
        project: client.project,
        expires: now.seconds().saturating_add(LIFE_SECONDS),
        asked: None,
        answer: Answer::Open,
    };
    let device_code = super::make_secret(tx, ids, "4/", device.expires, &Secret::Device(key));
    DEVICES.put(tx, &key, &device);
    Ok(json!({
        "device_code": device_code,
        "user_code": user_code,
        "expires_in": LIFE_SECONDS,
        "interval": INTERVAL_SECONDS,
        "verification_url": format!("{base}{VERIFICATION_PATH}"),
    }))
}

/// Answers a device that asks for its tokens.
///
/// # Errors
/// `InvalidGrant`, `ExpiredToken`, `AccessDenied`, `SlowDown`, `Store`.
pub fn ask(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    now: Timestamp,
    client: &str,
    code: &str,
) -> Result<Asked, OauthError> {
    let Some(Secret::Device(key)) = SECRETS.get(tx, &digest(code))? else {
        return Err(OauthError::InvalidGrant("Malformed device code."));
    };
    let device = DEVICES.get(tx, &key)?.filter(|device| device.client == client);
    let device = device.ok_or(OauthError::InvalidGrant("The code was made for another client."))?;
    if now.seconds() >= device.expires {
        return Err(OauthError::ExpiredToken);
    }
    let account = match &device.answer {
        Answer::Allowed(account) => account.clone(),
        Answer::Denied => return Err(OauthError::AccessDenied),
        Answer::Open => {
            if device.asked.is_some_and(|asked| now.seconds() - asked < INTERVAL_SECONDS) {
                return Err(OauthError::SlowDown);
            }
            DEVICES.put(tx, &key, &Device { asked: Some(now.seconds()), ..device });
            return Ok(Asked::Wait);
        }
    };
    // Codes are good for one grant.
    SECRETS.delete(tx, &digest(code));
    DEVICES.delete(tx, &key);
    let Device { client, scope, project, .. } = device;
    let granted = Grant { client, account, scope, project };
    let mut id = [0; 16];
    ids.fill(&mut id);
    // A device cannot ask its user again, so it always gets a refresh token.
    let (access, refresh) = super::begin(tx, ids, now, id, &granted, true)?;
    Ok(Asked::Granted(IssuedTokens {
        access,
        refresh,
        scope: granted.scope,
        account: granted.account,
        client: granted.client,
        nonce: None,
    }))
}

/// The device that waits with this code for its user's answer.
///
/// # Errors
/// As the store.
pub fn waiting(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user_code: &str,
) -> Result<Option<Device>, StoreError> {
    let device = DEVICES.get(tx, &user_key(user_code))?;
    Ok(device.filter(|device| now.seconds() < device.expires && device.answer == Answer::Open))
}

/// Records what the user of a device said: the account that it may use, or none.
///
/// # Errors
/// `InvalidGrant` for a code with which no device waits, `AccessDenied` for an account that is none, `Store`.
pub fn answer(
    tx: &mut Tx<'_>,
    now: Timestamp,
    user_code: &str,
    account: Option<&str>,
) -> Result<(), OauthError> {
    let device = waiting(tx, now, user_code)?;
    let device = device.ok_or(OauthError::InvalidGrant("No device waits with this code."))?;
    let answer = match account {
        Some(name) => {
            let account = super::account_named(tx, name)?.ok_or(OauthError::AccessDenied)?;
            Answer::Allowed(account.id)
        }
        None => Answer::Denied,
    };
    DEVICES.put(tx, &user_key(user_code), &Device { answer, ..device });
    Ok(())
}

/// The place of a device whose user enters this, in any letter case and with any signs between the letters.
fn user_key(entered: &str) -> [u8; 32] {
    let letters = entered.chars().filter(char::is_ascii_alphanumeric);
    digest(&letters.map(|letter| letter.to_ascii_uppercase()).collect::<String>())
}

/// A code that a person reads from one screen and enters at another: eight letters, `BCDF-GHJK`.
fn user_code(ids: &mut dyn Ids) -> String {
    let mut random = ids.next();
    let mut code = String::with_capacity(CODE_LETTERS + 1);
    for at in 0..CODE_LETTERS {
        if at == CODE_LETTERS / 2 {
            code.push('-');
        }
        let count = LETTERS.len() as u64;
        let letter = usize::try_from(random % count).ok().and_then(|place| LETTERS.get(place));
        code.extend(letter.map(|letter| char::from(*letter)));
        random /= count;
    }
    code
}

#[cfg(test)]
mod tests;
