//! The administration of the embedded key service: keys are made, named, enabled, disabled, rotated and deleted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use triptych_core::id::Ids;
use triptych_core::kv::{StoreError, Tx};

use crate::error::Error;
use crate::kms::key::{DELETION_WAIT, GENERATIONS_MAX, KeyId, KeyState, KeyUsage, KmsKey};
use crate::kms::key_name::{KeyArn, KeyName, is_alias, is_uuid};
use crate::kms::key_store::KeyStore;
use crate::request::dialect::{Dialect, is_reserved_alias};
use crate::store::tables::{ACCOUNTS, KMS_ALIASES, KMS_KEYS};

/// The most keys that a store holds, and the most aliases.
const KEYS_MAX: usize = 10_000;
/// The vocabulary that administrators are shown.
const SHOWN_IN: Dialect = Dialect::Amz;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A command to the key service.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    tag = "action",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum KeyCommand {
    /// Makes a key.
    Create {
        /// Its account; the first one unless it is named.
        account: Option<String>,
        /// Its id; drawn unless it is named.
        id: Option<String>,
        /// An alias for it.
        alias: Option<String>,
        /// Its purpose.
        #[serde(default)]
        usage: KeyUsage,
        /// Other accounts that may use it.
        #[serde(default)]
        shared_with: Vec<String>,
    },
    /// Gives a key an alias, which another of the account may have had.
    Alias {
        /// The key.
        key: String,
        /// The alias.
        alias: String,
    },
    /// Lets a key be used.
    Enable {
        /// The key.
        key: String,
    },
    /// Lets a key be used no more.
    Disable {
        /// The key.
        key: String,
    },
    /// Gives a key a new generation, which seals from now on. Older ones open what they sealed.
    Rotate {
        /// The key.
        key: String,
    },
    /// Deletes a key in so many days: what it sealed is lost then.
    ScheduleDeletion {
        /// The key.
        key: String,
        /// Days until then, 7 to 30.
        days: Option<u64>,
    },
    /// Keeps a key whose deletion was scheduled, disabled.
    CancelDeletion {
        /// The key.
        key: String,
    },
}

/// The reason why a command was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyCommandError {
    /// It is not one that can be done.
    #[error("{0}")]
    Refused(String),
    /// The store failed.
    #[error("the store failed: {0}")]
    Store(#[from] StoreError),
}

impl From<Error> for KeyCommandError {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => Self::Store(error),
            other => refused(other.to_string()),
        }
    }
}

/// A refusal in the vocabulary that keys are listed in.
fn refused(reason: impl AsRef<str>) -> KeyCommandError {
    KeyCommandError::Refused(SHOWN_IN.sentence(reason.as_ref()))
}

impl KeyStore<'_> {
    /// Does a command; gives the key as it is then.
    ///
    /// # Errors
    /// [`KeyCommandError`].
    pub fn administer(
        &self,
        tx: &mut Tx<'_>,
        ids: &mut dyn Ids,
        command: &KeyCommand,
    ) -> Result<Value, KeyCommandError> {
        let key = match command {
            KeyCommand::Create { account, id, alias, usage, shared_with } => {
                let account = self.account(tx, account.as_deref())?;
                let arn = match id {
                    None => self.new_key(&account, ids).arn,
                    Some(id) => self.new_arn(tx, id, &account)?,
                };
                for other in shared_with {
                    self.account(tx, Some(other))?;
                }
                let accounts = shared_with.clone();
                let key = KmsKey { usage: *usage, accounts, ..self.key_of(arn, ids) };
                if let Some(alias) = alias {
                    put_alias(tx, alias, &key)?;
                }
                key
            }
            KeyCommand::Alias { key, alias } => {
                let key = self.own_key(tx, key)?;
                put_alias(tx, alias, &key)?;
                key
            }
            KeyCommand::Enable { key } => self.usable_key(tx, key, KeyState::Enabled)?,
            KeyCommand::Disable { key } => self.usable_key(tx, key, KeyState::Disabled)?,
            KeyCommand::Rotate { key } => self.rotated(tx, key, ids)?,
            KeyCommand::ScheduleDeletion { key, days } => {
                let wait = days.map_or(DELETION_WAIT, |days| {
                    DAY.saturating_mul(u32::try_from(days).unwrap_or(u32::MAX))
                });
                if !(7 * DAY..=30 * DAY).contains(&wait) {
                    return Err(refused("a key is deleted in 7 to 30 days"));
                }
                let until = self.now.plus(wait);
                self.usable_key(tx, key, KeyState::PendingDeletion { until })?
            }
            KeyCommand::CancelDeletion { key } => {
                let key = self.own_key(tx, key)?;
                if !matches!(key.state, KeyState::PendingDeletion { .. }) {
                    return Err(refused(format!("{} is not pending deletion", key.arn)));
                }
                KmsKey { state: KeyState::Disabled, ..key }
            }
        };
        KMS_KEYS.put(tx, &key.arn.id, &key);
        self.list(tx)?
            .into_iter()
            .find(|shown| shown.get("id").and_then(Value::as_str) == Some(&key.arn.id))
            .ok_or_else(|| refused("the key is gone"))
    }

    /// All keys, as they are shown.
    ///
    /// # Errors
    /// As reads of the store.
    pub fn list(&self, tx: &mut Tx<'_>) -> Result<Vec<Value>, StoreError> {
        let mut aliases: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for ((_, alias), id) in KMS_ALIASES.all(tx, &(), KEYS_MAX)? {
            aliases.entry(id.0).or_default().push(alias);
        }
        let keys = KMS_KEYS.all(tx, &(), KEYS_MAX)?.into_iter();
        let keys = keys.filter(|(_, key)| !self.is_gone(key));
        Ok(keys.map(|(id, key)| shown(&key, aliases.remove(&id).unwrap_or_default())).collect())
    }

    /// The account with this id; the first one without.
    fn account(&self, tx: &mut Tx<'_>, id: Option<&str>) -> Result<String, KeyCommandError> {
        match id {
            Some(id) => match ACCOUNTS.get(tx, &id.to_owned())? {
                Some(account) => Ok(account.id),
                None => Err(refused(format!("there is no account {id}"))),
            },
            None => {
                let (rows, _) = ACCOUNTS.scan(tx, &ACCOUNTS.span(&()), 1)?;
                let first = rows.into_iter().next().map(|(id, _)| id);
                first.ok_or_else(|| refused("there is no account"))
            }
        }
    }

    /// The ARN of a key that is to have this id.
    fn new_arn(&self, tx: &mut Tx<'_>, id: &str, account: &str) -> Result<KeyArn, KeyCommandError> {
        if !is_uuid(id) {
            return Err(refused("the id of a key is a UUID"));
        }
        match KMS_KEYS.get_shared(tx, &id.to_owned())? {
            None => {}
            Some(key) if self.is_gone(&key) => forget_aliases(tx, id)?,
            Some(_) => return Err(refused(format!("there is a key {id} already"))),
        }
        let (region, account) = (self.region.to_owned(), account.to_owned());
        Ok(KeyArn { region, account, id: id.to_owned() })
    }

    /// The key that an id, an ARN, or an alias that only one account has means.
    fn own_key(&self, tx: &mut Tx<'_>, name: &str) -> Result<KmsKey, KeyCommandError> {
        let owner = match KeyName::parse(name, "")? {
            KeyName::Id(id) => KMS_KEYS.get(tx, &id)?.map(|key| key.arn.account),
            KeyName::Alias(alias) => {
                let all = KMS_ALIASES.all(tx, &(), KEYS_MAX)?;
                let mut owners = Vec::new();
                for ((account, _), id) in all.into_iter().filter(|((_, own), _)| *own == alias) {
                    let key = KMS_KEYS.get_shared(tx, &id.0)?;
                    if key.is_some_and(|key| !self.is_gone(&key)) {
                        owners.push(account);
                    }
                }
                let mut owners = owners.into_iter();
                let first = owners.next();
                if owners.next().is_some() {
                    let reason = format!("several accounts have {name}: name it by its ARN");
                    return Err(refused(reason));
                }
                first
            }
            other => other.account().filter(|account| !account.is_empty()).map(str::to_owned),
        };
        let owner = owner.ok_or_else(|| refused(format!("there is no key {name}")))?;
        let key = self.find(tx, &KeyName::parse(name, &owner)?, &owner)?;
        match key.managed {
            true => Err(refused(format!("{} is managed by the provider", key.arn))),
            false => Ok(Arc::unwrap_or_clone(key)),
        }
    }

    /// A key that is not pending deletion, in another state.
    fn usable_key(
        &self,
        tx: &mut Tx<'_>,
        name: &str,
        state: KeyState,
    ) -> Result<KmsKey, KeyCommandError> {
        let key = self.own_key(tx, name)?;
        match key.state {
            KeyState::PendingDeletion { .. } => {
                Err(refused(format!("{} is pending deletion: cancel that first", key.arn)))
            }
            _ => Ok(KmsKey { state, ..key }),
        }
    }

    fn rotated(
        &self,
        tx: &mut Tx<'_>,
        name: &str,
        ids: &mut dyn Ids,
    ) -> Result<KmsKey, KeyCommandError> {
        let mut key = self.own_key(tx, name)?;
        if key.state != KeyState::Enabled {
            return Err(refused(format!("{} is not enabled", key.arn)));
        }
        let number = key.generations.len();
        if number >= GENERATIONS_MAX {
            let reason = format!("{} has {number} generations, which is the most", key.arn);
            return Err(refused(reason));
        }
        key.generations.push(self.new_generation(&key.arn, number, ids));
        Ok(key)
    }
}

/// Takes away the aliases of a key that is gone: another one of its id has none of them.
fn forget_aliases(tx: &mut Tx<'_>, id: &str) -> Result<(), StoreError> {
    for (place, of) in KMS_ALIASES.all(tx, &(), KEYS_MAX)? {
        if of.0 == id {
            KMS_ALIASES.delete(tx, &place);
        }
    }
    Ok(())
}

fn put_alias(tx: &mut Tx<'_>, alias: &str, key: &KmsKey) -> Result<(), KeyCommandError> {
    if !is_alias(alias) || is_reserved_alias(alias) {
        return Err(refused(format!(
            "{alias} is not an alias that a key can have: alias/NAME, where NAME does not begin as those of the provider"
        )));
    }
    let place = (key.arn.account.clone(), alias.to_owned());
    KMS_ALIASES.put(tx, &place, &KeyId(key.arn.id.clone()));
    Ok(())
}

fn shown(key: &KmsKey, aliases: Vec<String>) -> Value {
    let (state, until) = match key.state {
        KeyState::Enabled => ("enabled", None),
        KeyState::Disabled => ("disabled", None),
        KeyState::PendingDeletion { until } => ("pendingDeletion", Some(until.rfc3339())),
    };
    json!({
        "id": key.arn.id,
        "arn": key.arn.text(SHOWN_IN),
        "account": key.arn.account,
        "aliases": aliases,
        "state": state,
        "deletesAt": until,
        "usage": key.usage.name(),
        "generations": key.generations.len(),
        "created": key.created.rfc3339(),
        "managed": key.managed,
        "sharedWith": key.accounts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::id::SeededIds;
    use triptych_core::kv::Memory;
    use triptych_core::time::Timestamp;

    use crate::auth::account::Account;
    use crate::body::encryption::Keyring;

    const OWN: &str = "111122223333";

    fn put_account(tx: &mut Tx<'_>) {
        let account = Account {
            id: OWN.to_owned(),
            canonical_id: String::new(),
            display_name: String::new(),
            email: String::new(),
        };
        ACCOUNTS.put(tx, &account.id, &account);
    }

    #[test]
    fn a_key_goes_through_its_states() {
        let (roots, mut ids, memory) =
            (Keyring::new(&[7; 32]), SeededIds::from_number(1), Memory::new());
        let keys = KeyStore { roots: &roots, region: "r", now: Timestamp::from_seconds(1_000) };
        let mut tx = Tx::new(&memory);
        put_account(&mut tx);
        let mut told = |json: Value| {
            let command: KeyCommand = serde_json::from_value(json).unwrap();
            keys.administer(&mut tx, &mut ids, &command).map_err(|refused| refused.to_string())
        };
        let made = told(json!({"action": "create", "alias": "alias/one"})).unwrap();
        let id = made.get("id").and_then(Value::as_str).unwrap().to_owned();
        let arn = made.get("arn").and_then(Value::as_str).unwrap().to_owned();
        let field = |shown: &Value, name: &str| shown.get(name).cloned().unwrap_or_default();
        assert_eq!(field(&made, "aliases"), json!(["alias/one"]));
        let again = told(json!({"action": "create", "alias": "alias/two"})).unwrap();
        for (action, state) in
            [("disable", "disabled"), ("enable", "enabled"), ("rotate", "enabled")]
        {
            for key in [&id, &arn, "alias/one"] {
                let shown = told(json!({"action": action, "key": key})).unwrap();
                assert_eq!(field(&shown, "state"), state);
            }
        }
        let shown = told(json!({"action": "alias", "key": id, "alias": "alias/two"})).unwrap();
        assert_eq!(field(&shown, "aliases"), json!(["alias/one", "alias/two"]));
        assert_eq!(field(&shown, "generations"), 4);
        let shown = told(json!({"action": "schedule-deletion", "key": id, "days": 7})).unwrap();
        assert_eq!(field(&shown, "deletesAt"), "1970-01-08T00:16:40Z");
        for refused in [
            json!({"action": "enable", "key": id}),
            json!({"action": "rotate", "key": id}),
            json!({"action": "schedule-deletion", "key": id}),
            json!({"action": "schedule-deletion", "key": field(&again, "id"), "days": 6}),
            json!({"action": "schedule-deletion", "key": field(&again, "id"), "days": u64::MAX}),
            json!({"action": "cancel-deletion", "key": field(&again, "id")}),
            json!({"action": "alias", "key": id, "alias": "alias/aws/x"}),
            json!({"action": "alias", "key": id, "alias": "one"}),
            json!({"action": "enable", "key": "alias/none"}),
            json!({"action": "enable", "key": "none"}),
            json!({"action": "create", "account": "1"}),
            json!({"action": "create", "id": id}),
            json!({"action": "create", "id": "x"}),
            json!({"action": "create", "sharedWith": ["1"]}),
        ] {
            assert!(told(refused.clone()).is_err(), "{refused}");
        }
        let shown = told(json!({"action": "cancel-deletion", "key": id})).unwrap();
        assert_eq!(field(&shown, "state"), "disabled");
    }

    #[test]
    fn a_key_whose_time_is_over_leaves_its_id_and_its_aliases_to_others() {
        let (roots, mut ids, memory) =
            (Keyring::new(&[7; 32]), SeededIds::from_number(1), Memory::new());
        let mut tx = Tx::new(&memory);
        put_account(&mut tx);
        let mut told = |seconds: i64, json: Value| {
            let now = Timestamp::from_seconds(seconds);
            let keys = KeyStore { roots: &roots, region: "r", now };
            let command: KeyCommand = serde_json::from_value(json).unwrap();
            keys.administer(&mut tx, &mut ids, &command).map_err(|refused| refused.to_string())
        };
        let id = "134f2428-cec1-4b25-a1ae-000000000001";
        let create = json!({"action": "create", "id": id, "alias": "alias/one"});
        let first = told(0, create.clone()).unwrap();
        told(0, json!({"action": "alias", "key": id, "alias": "alias/two"})).unwrap();
        let delete = json!({"action": "schedule-deletion", "key": "alias/one", "days": 7});
        told(0, delete.clone()).unwrap();
        let arn = first.get("arn").and_then(Value::as_str).unwrap();
        let again = told(0, delete.clone()).unwrap_err();
        assert_eq!(again, format!("{arn} is pending deletion: cancel that first"));
        let over = 7 * 24 * 60 * 60;
        let early = told(over - 1, create.clone()).unwrap_err();
        assert_eq!(early, format!("there is a key {id} already"));
        assert_eq!(told(over, delete), Err("there is no key alias/one".to_owned()));
        let second = told(over, create).unwrap();
        assert_eq!(second.get("aliases"), Some(&json!(["alias/one"])), "not its former second");
        assert_eq!(second.get("state"), Some(&json!("enabled")));
    }
}
