//! Seed files: accounts, keys and buckets that are there before the first request.

use hex::FromHex as _;
use serde::Deserialize;
use triptych_core::id::Ids;
use triptych_core::kv::{StoreError, Tx};
use triptych_core::time::Timestamp;

use crate::auth::account::{AccessKey, Account, Secret};
use crate::auth::policy::{Policy, PublicAccessBlock};
use crate::body::encryption::SERVICE_MANAGED;
use crate::kms::key::{DELETION_WAIT, KeyId, KeyState, KeyUsage, KmsKey};
use crate::kms::key_name::{KeyArn, KeyName, is_alias};
use crate::kms::key_store::KeyStore;
use crate::request::dialect::{Dialect, is_reserved_alias, neutral_mode};
use crate::store::access_point::{AccessPoint, is_directory_point_name, is_name, point_zone_of};
use crate::store::access_point_directory::{self, COUNT_MAX};
use crate::store::bucket::{
    Bucket, BucketKind, Ownership, Public, RequestPayment, Versioning, ZoneKind, check_name,
    is_directory_name, zone_of,
};
use crate::store::bucket_encryption::{self, BucketEncryption, BucketMode};
use crate::store::tables::{
    ACCESS_KEYS, ACCESS_POINTS, ACCOUNTS, BUCKET_CONFIGS, BUCKETS, KMS_ALIASES, KMS_KEYS,
};

/// The region of a service that is told none.
pub const DEFAULT_REGION: &str = "us-east-1";

/// The account of a service that is told none.
const FIRST_ACCOUNT: &str = "111122223333";
/// The bucket that a service without a seed file starts with.
pub const FIRST_BUCKET: &str = "demo";

/// A seed file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Seed {
    /// The region of the service.
    pub region: Option<String>,
    /// The ownership of buckets that are made without a word about it.
    pub ownership: Ownership,
    /// False if new buckets do not block public access.
    pub public_access_block: Option<bool>,
    /// The dialect of requests that name nothing of the service.
    pub dialect: Option<Dialect>,
    accounts: Vec<SeedAccount>,
    buckets: Vec<SeedBucket>,
    access_points: Vec<SeedAccessPoint>,
    kms_keys: Vec<SeedKmsKey>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedAccount {
    id: String,
    canonical_id: Option<String>,
    display_name: Option<String>,
    email: Option<String>,
    #[serde(default)]
    keys: Vec<SeedKey>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedKey {
    access_key_id: String,
    secret_access_key: Secret,
    #[serde(default = "everything")]
    allow: Vec<String>,
    session_token: Option<Secret>,
}

fn everything() -> Vec<String> {
    vec!["*".to_owned()]
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedBucket {
    name: String,
    owner: String,
    #[serde(default)]
    kind: BucketKind,
    #[serde(default)]
    versioning: Versioning,
    #[serde(default)]
    object_lock: bool,
    #[serde(default)]
    ownership: Ownership,
    #[serde(default)]
    public: Public,
    #[serde(default)]
    request_payment: RequestPayment,
    zone: Option<String>,
    #[serde(default)]
    zone_kind: ZoneKind,
    /// The deployment of a bucket on premises.
    deployment: Option<String>,
    encryption: Option<SeedEncryption>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedEncryption {
    mode: String,
    key: Option<String>,
    #[serde(default)]
    bucket_key: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedAccessPoint {
    name: String,
    account: String,
    bucket: String,
    alias: Option<String>,
    /// A policy document.
    policy: Option<serde_json::Value>,
    /// Blocks all unless it says otherwise.
    public_access_block: Option<PublicAccessBlock>,
}

impl SeedAccessPoint {
    fn record(&self, deployment: Option<&str>) -> AccessPoint {
        let block = self.public_access_block.unwrap_or(PublicAccessBlock::ALL);
        AccessPoint {
            name: self.name.clone(),
            account: self.account.clone(),
            bucket: self.bucket.clone(),
            deployment: deployment.map(str::to_owned),
            alias: self.alias.clone(),
            policy: self.policy.as_ref().map(ToString::to_string),
            restricts_public: block.restrict_public_buckets,
            ignores_public_acls: block.ignore_public_acls,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedKmsKey {
    id: String,
    alias: Option<String>,
    account: String,
    #[serde(default)]
    state: SeedKeyState,
    #[serde(default)]
    usage: KeyUsage,
    /// Other accounts that may use the key.
    #[serde(default)]
    shared_with: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum SeedKeyState {
    #[default]
    Enabled,
    Disabled,
    PendingDeletion,
}

/// The reason why a seed file is not applied. It names the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// It is no JSON, or a field of it is unknown or of another type.
    #[error("the seed file cannot be read: {0}")]
    Unreadable(String),
    /// A value of it breaks a rule.
    #[error("the seed file's {path} {reason}")]
    Invalid {
        /// The path of the value.
        path: String,
        /// The fault.
        reason: String,
    },
    /// The store refused it.
    #[error("the seed file could not be stored: {0}")]
    Store(#[from] StoreError),
}

fn invalid(path: String, reason: impl Into<String>) -> SeedError {
    SeedError::Invalid { path, reason: reason.into() }
}

impl Seed {
    /// Reads a seed file.
    ///
    /// # Errors
    /// [`SeedError::Unreadable`] with line, column and field; [`SeedError::Invalid`] with the path of the value.
    pub fn parse(text: &str) -> Result<Self, SeedError> {
        let seed: Self =
            serde_json::from_str(text).map_err(|error| SeedError::Unreadable(error.to_string()))?;
        seed.check()?;
        Ok(seed)
    }

    /// The seed of a service that is told nothing: an account with this key, and a bucket to try it on.
    #[must_use]
    pub fn of_key(access_key_id: String, secret: Secret) -> Self {
        let mut seed = Self {
            buckets: vec![SeedBucket {
                name: FIRST_BUCKET.to_owned(),
                owner: FIRST_ACCOUNT.to_owned(),
                kind: BucketKind::default(),
                versioning: Versioning::default(),
                object_lock: false,
                ownership: Ownership::default(),
                public: Public::default(),
                request_payment: RequestPayment::default(),
                zone: None,
                zone_kind: ZoneKind::default(),
                deployment: None,
                encryption: None,
            }],
            ..Self::default()
        };
        seed.add_key(access_key_id, secret);
        seed
    }

    /// Gives the first account one more key, which may do everything; makes the account where there is none.
    pub fn add_key(&mut self, access_key_id: String, secret: Secret) {
        if self.accounts.is_empty() {
            self.accounts.push(SeedAccount {
                id: FIRST_ACCOUNT.to_owned(),
                canonical_id: None,
                display_name: Some("main".to_owned()),
                email: None,
                keys: Vec::new(),
            });
        }
        if let Some(account) = self.accounts.first_mut() {
            account.keys.push(SeedKey {
                access_key_id,
                secret_access_key: secret,
                allow: everything(),
                session_token: None,
            });
        }
    }

    fn check(&self) -> Result<(), SeedError> {
        for (place, account) in self.accounts.iter().enumerate() {
            if account.id.len() != 12 || !account.id.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(invalid(format!("accounts[{place}].id"), "is not twelve digits"));
            }
            let canonical = account.canonical_id.as_deref();
            if canonical.is_some_and(|id| <[u8; 32]>::from_hex(id).is_err()) {
                let path = format!("accounts[{place}].canonicalId");
                return Err(invalid(path, "is not 64 hexadecimal digits"));
            }
        }
        for (place, bucket) in self.buckets.iter().enumerate() {
            let at = |field: &str| format!("buckets[{place}].{field}");
            check_name(&bucket.name)
                .map_err(|_| invalid(at("name"), "is not a name that a bucket can have"))?;
            if is_directory_name(&bucket.name) != (bucket.kind == BucketKind::Directory) {
                return Err(invalid(at("name"), "ends as names of directory buckets alone do"));
            }
            if !self.accounts.iter().any(|account| account.id == bucket.owner) {
                return Err(invalid(at("owner"), "is not one of the accounts of this file"));
            }
            if bucket.object_lock && bucket.versioning == Versioning::Suspended {
                return Err(invalid(at("objectLock"), "needs versioning enabled"));
            }
            let zone = bucket.zone.as_deref();
            if zone.is_some() && zone != zone_of(&bucket.name) {
                return Err(invalid(at("zone"), "is not the zone that the bucket's name names"));
            }
            if bucket.kind == BucketKind::Directory
                && (bucket.versioning != Versioning::Off
                    || bucket.object_lock
                    || bucket.request_payment != RequestPayment::BucketOwner
                    || bucket.public != Public::None
                    || bucket.ownership != Ownership::BucketOwnerEnforced)
            {
                let rule = "is directory, which has no versions, locks, lists, payers or public";
                return Err(invalid(at("kind"), rule));
            }
            if bucket.kind == BucketKind::Directory
                && let Some(own) = &bucket.encryption
                && neutral_mode(&own.mode) != SERVICE_MANAGED
                && (own.key.as_deref().is_none_or(|key| key.contains("alias/"))
                    || neutral_mode(&own.mode) != Dialect::Store.names().kms)
            {
                let rule =
                    "of a directory bucket is AES256, or store:kms with the id or ARN of a key";
                return Err(invalid(at("encryption"), rule));
            }
            if (bucket.kind == BucketKind::OnPremises) != bucket.deployment.is_some() {
                let rule = "goes with buckets on premises, and each has one";
                return Err(invalid(at("deployment"), rule));
            }
            let fits =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            if bucket
                .deployment
                .as_deref()
                .is_some_and(|own| own.is_empty() || !own.bytes().all(fits))
            {
                let rule = "is not one of lower-case letters, digits and hyphens";
                return Err(invalid(at("deployment"), rule));
            }
            bucket.encryption(DEFAULT_REGION).map_err(|why| invalid(at("encryption"), why))?;
        }
        self.check_access_points()?;
        for (place, key) in self.kms_keys.iter().enumerate() {
            let at = |field: &str| format!("kmsKeys[{place}].{field}");
            let known = |id: &String| self.accounts.iter().any(|account| account.id == *id);
            if !matches!(KeyName::parse(&key.id, &key.account), Ok(KeyName::Id(_))) {
                return Err(invalid(at("id"), "is not the id of a key"));
            }
            if !known(&key.account) {
                return Err(invalid(at("account"), "is not one of the accounts of this file"));
            }
            if !key.shared_with.iter().all(known) {
                return Err(invalid(at("sharedWith"), "names an account that is not in this file"));
            }
            let is_alias = |alias: &str| is_alias(alias) && !is_reserved_alias(alias);
            if key.alias.as_deref().is_some_and(|alias| !is_alias(alias)) {
                return Err(invalid(at("alias"), "is not an alias that a key can have"));
            }
        }
        Ok(())
    }

    fn check_access_points(&self) -> Result<(), SeedError> {
        if self.access_points.len() > COUNT_MAX {
            let path = "accessPoints".to_owned();
            return Err(invalid(path, format!("are more than {COUNT_MAX}")));
        }
        for (place, point) in self.access_points.iter().enumerate() {
            let at = |field: &str| format!("accessPoints[{place}].{field}");
            let earlier = self.access_points.iter().take(place);
            if !is_name(&point.name) {
                return Err(invalid(at("name"), "is not a name that an access point can have"));
            }
            let deployment = |own: &SeedAccessPoint| {
                let bucket = self.buckets.iter().find(|bucket| bucket.name == own.bucket);
                bucket.and_then(|bucket| bucket.deployment.as_deref())
            };
            let named = |own: &SeedAccessPoint| own.record(deployment(own)).label();
            let is_same = |own: &SeedAccessPoint| named(own) == named(point);
            if earlier.clone().any(is_same) {
                let rule = "is that of another access point of its account, or of its zone";
                return Err(invalid(at("name"), rule));
            }
            if !self.accounts.iter().any(|account| account.id == point.account) {
                return Err(invalid(at("account"), "is not one of the accounts of this file"));
            }
            if !self.buckets.iter().any(|bucket| bucket.name == point.bucket) {
                return Err(invalid(at("bucket"), "is not one of the buckets of this file"));
            }
            let is_directory = |bucket: &SeedBucket| {
                bucket.name == point.bucket && bucket.kind == BucketKind::Directory
            };
            let is_directory = self.buckets.iter().any(is_directory);
            if is_directory_point_name(&point.name) != is_directory {
                let rule =
                    "ends as names of access points to directory buckets do, and theirs alone";
                return Err(invalid(at("name"), rule));
            }
            if is_directory && point_zone_of(&point.name) != zone_of(&point.bucket) {
                return Err(invalid(at("name"), "names another zone than its bucket is in"));
            }
            if is_directory && point.alias.is_some() {
                return Err(invalid(at("alias"), "is for access points to other buckets"));
            }
            if let Some(alias) = &point.alias {
                let fits =
                    |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
                if alias.is_empty()
                    || alias.len() > 63
                    || !alias.bytes().all(fits)
                    || is_directory_point_name(alias)
                    || is_directory_name(alias)
                {
                    return Err(invalid(
                        at("alias"),
                        "is not 1 to 63 lower-case letters, digits and hyphens with an end of its own",
                    ));
                }
                if self.buckets.iter().any(|bucket| bucket.name == *alias)
                    || earlier.clone().any(|own| own.alias.as_ref() == Some(alias))
                {
                    return Err(invalid(at("alias"), "is the name of something else in this file"));
                }
            }
            if let Some(policy) = &point.policy {
                let name = point.record(deployment(point)).resource();
                Policy::of_access_point(&policy.to_string(), &name)
                    .map_err(|error| invalid(at("policy"), format!("is none: {error}")))?;
            }
        }
        Ok(())
    }

    /// Puts accounts and keys that are new into the store, and buckets if it holds none. Gives how many accounts and keys came.
    ///
    /// # Errors
    /// [`SeedError::Store`].
    pub fn apply(
        &self,
        tx: &mut Tx<'_>,
        ids: &mut dyn Ids,
        now: Timestamp,
    ) -> Result<usize, SeedError> {
        let mut new = 0;
        for account in &self.accounts {
            if ACCOUNTS.get(tx, &account.id)?.is_none() {
                ACCOUNTS.put(tx, &account.id, &account.record());
                new += 1;
            }
            for key in &account.keys {
                if ACCESS_KEYS.get(tx, &key.access_key_id)?.is_none() {
                    let record = AccessKey {
                        account: account.id.clone(),
                        secret: key.secret_access_key.clone(),
                        allow: key.allow.clone(),
                        token: key.session_token.clone(),
                    };
                    ACCESS_KEYS.put(tx, &key.access_key_id, &record);
                    new += 1;
                }
            }
        }
        let (held, _) = BUCKETS.scan(tx, &BUCKETS.span(&()), 1)?;
        if held.is_empty() {
            let region = self.region.as_deref().unwrap_or(DEFAULT_REGION);
            for bucket in &self.buckets {
                let record = bucket.record(ids.next(), region, now);
                BUCKETS.put(tx, &bucket.name, &record);
                let is_blocked = self.public_access_block != Some(false);
                if is_blocked && bucket.public == Public::None {
                    PublicAccessBlock::ALL.put(tx, record.id);
                }
                if let Ok(Some(encryption)) = bucket.encryption(region) {
                    let setting = (record.id, bucket_encryption::SETTING.to_owned());
                    let bytes = serde_json::to_vec(&encryption).unwrap_or_default();
                    BUCKET_CONFIGS.put(tx, &setting, &bytes.into());
                }
            }
        }
        let mut has_new_point = false;
        for point in &self.access_points {
            let bucket = self.buckets.iter().find(|bucket| bucket.name == point.bucket);
            let deployment = bucket.and_then(|bucket| bucket.deployment.as_deref());
            let record = point.record(deployment);
            let place = (record.account.clone(), record.resource());
            if ACCESS_POINTS.get(tx, &place)?.is_none() {
                ACCESS_POINTS.put(tx, &place, &record);
                has_new_point = true;
            }
        }
        if has_new_point {
            access_point_directory::renew_stamp(tx, ids);
        }
        Ok(new)
    }

    /// Puts key-management keys that are new into the embedded key service. Gives how many came.
    ///
    /// # Errors
    /// [`SeedError::Store`].
    pub fn apply_kms_keys(
        &self,
        tx: &mut Tx<'_>,
        ids: &mut dyn Ids,
        keys: &KeyStore<'_>,
    ) -> Result<usize, SeedError> {
        let mut new = 0;
        for own in &self.kms_keys {
            if KMS_KEYS.get(tx, &own.id)?.is_some() {
                continue;
            }
            let arn = KeyArn {
                region: keys.region.to_owned(),
                account: own.account.clone(),
                id: own.id.clone(),
            };
            let state = match own.state {
                SeedKeyState::Enabled => KeyState::Enabled,
                SeedKeyState::Disabled => KeyState::Disabled,
                SeedKeyState::PendingDeletion => {
                    KeyState::PendingDeletion { until: keys.now.plus(DELETION_WAIT) }
                }
            };
            let key = KmsKey {
                state,
                usage: own.usage,
                accounts: own.shared_with.clone(),
                ..keys.key_of(arn, ids)
            };
            KMS_KEYS.put(tx, &own.id, &key);
            if let Some(alias) = &own.alias {
                let alias = (own.account.clone(), alias.clone());
                KMS_ALIASES.put(tx, &alias, &KeyId(own.id.clone()));
            }
            new += 1;
        }
        Ok(new)
    }

    /// Tells whether the file names an access key.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        self.accounts.iter().any(|account| !account.keys.is_empty())
    }
}

impl SeedAccount {
    fn record(&self) -> Account {
        let canonical = || hex::encode(crate::auth::digest::sha256(self.id.as_bytes()));
        Account {
            id: self.id.clone(),
            canonical_id: self.canonical_id.clone().unwrap_or_else(canonical),
            display_name: self.display_name.clone().unwrap_or_else(|| self.id.clone()),
            email: self.email.clone().unwrap_or_default(),
        }
    }
}

impl SeedBucket {
    /// The default encryption that it is given; names of keys are those of its owner.
    fn encryption(&self, region: &str) -> Result<Option<BucketEncryption>, &'static str> {
        let Some(own) = &self.encryption else {
            return Ok(None);
        };
        let names = Dialect::Store.names();
        let mode = match neutral_mode(&own.mode) {
            SERVICE_MANAGED if own.key.is_some() || own.bucket_key => {
                return Err("names a key, which the mode AES256 has no use for");
            }
            SERVICE_MANAGED => BucketMode::ServiceManaged,
            mode if mode == names.kms => BucketMode::KeyManagement,
            mode if mode == names.kms_dual && own.bucket_key => {
                return Err("has a bucket key, which dual layers do not take");
            }
            mode if mode == names.kms_dual => BucketMode::DualLayer,
            _ => return Err("has a mode that is neither AES256 nor store:kms nor store:kms:dsse"),
        };
        let key = own.key.as_deref().map(|key| KeyName::parse(key, &self.owner)).transpose();
        let key = key.map_err(|_| "names a key by what is no name of one")?;
        Ok(Some(BucketEncryption {
            mode,
            key: key.map(|key| key.of_account(&self.owner, region)),
            short_name: own.key.clone().filter(|key| !key.starts_with("arn:")),
            bucket_key: own.bucket_key || self.kind == BucketKind::Directory,
        }))
    }

    fn record(&self, id: u64, region: &str, now: Timestamp) -> Bucket {
        Bucket {
            kind: self.kind,
            zone_kind: self.zone_kind,
            // A bucket whose versions can be locked keeps them.
            versioning: if self.object_lock { Versioning::Enabled } else { self.versioning },
            object_lock: self.object_lock,
            ownership: self.ownership,
            public: self.public,
            request_payment: self.request_payment,
            ..Bucket::new(id, self.name.clone(), self.owner.clone(), region.to_owned(), now)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::id::SeededIds;
    use triptych_core::kv::{Memory, run_blocking};

    const FILE: &str = r#"{ "region": "us-east-1",
        "accounts": [{ "id": "111122223333", "displayName": "main",
                       "keys": [{ "accessKeyId": "AK", "secretAccessKey": "SK", "allow": ["store:*"] }] }],
        "buckets": [{ "name": "demo", "owner": "111122223333", "kind": "general-purpose", "versioning": "enabled",
                      "objectLock": true, "ownership": "BucketOwnerEnforced", "public": "none", "requestPayment": "BucketOwner" }] }"#;

    #[test]
    fn a_seed_fills_an_empty_store_once() {
        let store = Memory::new();
        let seed = Seed::parse(FILE).unwrap();
        for expected in [2, 0] {
            let new = run_blocking(&store, &mut SeededIds::from_number(1), 3, |tx, ids| {
                seed.apply(tx, ids, Timestamp::EPOCH)
            });
            assert_eq!(new, Ok(expected));
        }
        let mut tx = Tx::new(&store);
        let bucket = BUCKETS.get(&mut tx, &"demo".to_owned()).unwrap().unwrap();
        assert_eq!(bucket.versioning, Versioning::Enabled);
        assert_eq!(
            ACCESS_KEYS.get(&mut tx, &"AK".to_owned()).unwrap().unwrap().account,
            "111122223333"
        );
    }

    #[test]
    fn access_points_and_keys_are_read() {
        let text = FILE.replace(
            "\"region\"",
            r#""accessPoints": [{ "name": "own", "account": "111122223333", "bucket": "demo", "alias": "own-alias" }],
               "kmsKeys": [{ "id": "k", "alias": "alias/demo", "account": "111122223333", "state": "enabled" }], "region""#,
        );
        assert!(Seed::parse(&text).is_ok());
        for (own, wrong) in
            [("own", "O"), ("own-alias", "demo"), ("\"bucket\": \"demo\"", "\"bucket\": \"none\"")]
        {
            let error = Seed::parse(&text.replacen(own, wrong, 1)).unwrap_err().to_string();
            assert!(error.contains("accessPoints[0]"), "{error}");
        }
    }

    #[test]
    fn faults_of_a_seed_name_their_place() {
        for (text, place) in [
            (FILE.replace("\"name\"", "\"nome\""), "nome"),
            (FILE.replace("\"demo\"", "\"De_mo\""), "buckets[0].name"),
            (FILE.replace("\"id\": \"111122223333\"", "\"id\": \"1\""), "accounts[0].id"),
            (FILE.replace("\"owner\": \"111122223333\"", "\"owner\": \"x\""), "buckets[0].owner"),
            (FILE.replace("\"enabled\"", "\"suspended\""), "buckets[0].objectLock"),
        ] {
            let error = Seed::parse(&text).unwrap_err().to_string();
            assert!(error.contains(place), "{error}");
        }
    }
}
