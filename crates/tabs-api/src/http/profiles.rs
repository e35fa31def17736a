//! The profiles that there are, and the extensions in each: made, changed and forgotten, and kept over restarts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use triptych_core::kv::{Guarded, KeyValue, StoreError};

use super::fetch::{FetchedPages, Fetcher};
use super::large_write::{Commit, Write, begin, commit, finish, rows_under};
use super::profile::Profile;
use super::profile_record::{Record, record_prefix, records};
use super::refusal::Refusal;
use super::token::{TokenHash, hash};
use super::{FIRST_PROFILE, TabsApi};
use crate::browser::Browser;
use crate::engine::simulated::SimEngine;
use crate::seed::{Install, Seed, SeedError};

/// The longest name of a profile.
const NAME_BYTES_MAX: usize = 64;

/// A profile, and what a reset makes of it.
#[derive(Clone)]
pub(super) struct ProfileEntry {
    pub(super) profile: Arc<Profile>,
    /// Its extensions have their ids, and their tokens as long as those were not kept as hashes alone.
    pub(super) seed: Seed,
    /// The hash of each extension's token.
    pub(super) tokens: BTreeMap<String, TokenHash>,
    /// The extensions that the seed file has, and every start has with it.
    from_seed_file: BTreeSet<String>,
    is_kept: bool,
    /// False until its record is kept: what was done in it before would be gone with it.
    pub(super) is_made: bool,
    /// The store as its owner writes to it, where instances share that.
    pub(super) claim: Option<Arc<Guarded>>,
}

/// The rows of a profile's browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// None are kept.
    None,
    /// It begins without any: those of its name are of one that came to an end half made.
    New,
    /// It goes on with those that are there.
    Kept,
}

/// The hash of each extension's token of a seed in which all have one, by their ids.
fn tokens_of(seed: &Seed) -> impl Iterator<Item = (String, TokenHash)> + '_ {
    seed.extensions
        .iter()
        .filter_map(|install| Some((install.id.clone()?, hash(install.token.as_deref()?))))
}

/// The rows of a record, and the store that they go to.
type RecordRows = (Arc<dyn KeyValue>, Vec<Write>);

impl ProfileEntry {
    /// The manifest of an extension.
    pub(super) fn manifest(&self, extension: &str) -> Value {
        let mut installs = self.seed.extensions.iter();
        installs
            .find(|install| install.id.as_deref() == Some(extension))
            .map_or(Value::Null, |install| install.manifest.clone())
    }

    /// Everybody of a profile's extensions, with what the reply to their installation says.
    pub(super) fn shown(&self) -> Vec<Value> {
        let installs = self.seed.extensions.iter();
        let shown = |install: &Install| {
            // Its manifest was read as the profile was made.
            let warnings = install.warnings(0).unwrap_or_default();
            json!({ "id": install.id, "token": install.token, "warnings": warnings })
        };
        installs.map(shown).collect()
    }

    /// The record to keep: of the first profile only what its seed file has not.
    fn record(&self, name: &str) -> Record {
        let mut seed = self.seed.clone();
        if name == FIRST_PROFILE {
            seed = Seed { extensions: seed.extensions, ..Seed::default() };
            let is_own = |install: &Install| {
                !install.id.as_ref().is_some_and(|id| self.from_seed_file.contains(id))
            };
            seed.extensions.retain(is_own);
        }
        for install in &mut seed.extensions {
            install.token = None;
        }
        let is_there =
            |id: &String| seed.extensions.iter().any(|install| install.id.as_ref() == Some(id));
        let tokens = self.tokens.iter().filter(|(id, _)| is_there(id));
        Record { tokens: tokens.map(|(id, token)| (id.clone(), *token)).collect(), seed }
    }
}

impl TabsApi {
    /// Makes the profile of the seed file, and brings back those that were kept. Where instances share the store, each profile is opened by
    /// the one that is asked for it.
    pub(super) fn restore(&self) -> Result<(), Refusal> {
        if self.0.sharing.is_some() {
            return self.know_seed_tokens();
        }
        let mut records = match &self.0.store {
            Some(store) => {
                finish(&**store)?;
                records(&**store)?
            }
            None => BTreeMap::new(),
        };
        self.add_first_profile(records.remove(FIRST_PROFILE), None)?;
        for (name, Record { seed, tokens }) in records {
            self.add_profile(&name, seed, tokens, BTreeSet::new(), Rows::Kept, None)?;
        }
        Ok(())
    }

    /// Takes note of whose the tokens of the seed file are, and checks the seed.
    fn know_seed_tokens(&self) -> Result<(), Refusal> {
        let seed = &self.0.seed;
        for index in 0..seed.extensions.len() {
            seed.extension(index)?;
        }
        let owned = tokens_of(seed).map(|(id, token)| (token, (FIRST_PROFILE.to_owned(), id)));
        self.tokens_mut().extend(owned);
        Ok(())
    }

    /// Makes the profile of the seed file, with what was kept of it.
    pub(super) fn add_first_profile(
        &self,
        kept: Option<Record>,
        claim: Option<Arc<Guarded>>,
    ) -> Result<(), Refusal> {
        let mut seed = self.0.seed.clone();
        let from_seed_file: BTreeSet<_> =
            seed.extensions.iter().filter_map(|install| install.id.clone()).collect();
        let mut tokens = BTreeMap::new();
        if let Some(kept) = kept {
            let is_new = |install: &Install| {
                !install.id.as_ref().is_some_and(|id| from_seed_file.contains(id))
            };
            seed.extensions.extend(kept.seed.extensions.into_iter().filter(is_new));
            tokens = kept.tokens;
        }
        self.add_profile(FIRST_PROFILE, seed, tokens, from_seed_file, Rows::Kept, claim)?;
        Ok(())
    }

    /// Creates a profile. Extensions without a token get one. It is kept if the service keeps anything, unless `is_kept` says no.
    ///
    /// # Errors
    /// `BadName`, then what the seed is refused for, `ProfileExists`, `TokenTaken`, `Store`.
    pub(super) async fn create_profile(
        &self,
        name: &str,
        seed: Seed,
        is_kept: bool,
    ) -> Result<ProfileEntry, Refusal> {
        let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || b"._-".contains(&sign);
        let is_one = (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_sign);
        // Clients take a path of these for one that leads elsewhere.
        if !is_one || matches!(name, "." | "..") {
            return Err(Refusal::BadName);
        }
        let mut seed = seed;
        seed.assign_ids()?;
        for token in seed.extensions.iter().filter_map(|install| install.token.as_deref()) {
            if self.profile_of(hash(token))?.is_some() {
                return Err(Refusal::TokenTaken);
            }
        }
        let rows = if is_kept { Rows::New } else { Rows::None };
        let claim = if is_kept { self.claim_new(name).await? } else { None };
        let entry = self.add_profile(name, seed, BTreeMap::new(), BTreeSet::new(), rows, claim)?;
        match self.record(name).await {
            Ok(()) => self.show(name, &entry),
            Err(error) => {
                self.take_back(name, &entry).await;
                return Err(error);
            }
        }
        Ok(entry)
    }

    /// Lets a profile be found whose record is kept.
    fn show(&self, name: &str, entry: &ProfileEntry) {
        let mut profiles = self.profiles_mut();
        let own = profiles.get_mut(name).filter(|own| Arc::ptr_eq(&own.profile, &entry.profile));
        if let Some(own) = own {
            own.is_made = true;
        }
    }

    /// Forgets a profile whose record was not kept, or of which nobody knows whether it was.
    async fn take_back(&self, name: &str, entry: &ProfileEntry) {
        let is_own = |own: &ProfileEntry| Arc::ptr_eq(&own.profile, &entry.profile);
        let removed = {
            let mut profiles = self.profiles_mut();
            let is_there = profiles.get(name).is_some_and(is_own);
            is_there.then(|| profiles.remove(name)).is_some()
        };
        if removed {
            self.tokens_mut().retain(|_, (profile, _)| profile != name);
            entry.profile.remove();
        }
        // Where it cannot be given up now it falls to others once this instance is gone, or to this one's next attempt.
        if let Err(error) = self.give_up(entry).await {
            tracing::warn!(profile = name, %error, "the name of a profile that was not made is not given up");
        }
    }

    pub(super) fn add_profile(
        &self,
        name: &str,
        mut seed: Seed,
        mut known: BTreeMap<String, TokenHash>,
        from_seed_file: BTreeSet<String>,
        rows: Rows,
        claim: Option<Arc<Guarded>>,
    ) -> Result<ProfileEntry, Refusal> {
        seed.browser_version = seed.browser_version.or(self.0.browser_version);
        let mut tokens = BTreeMap::new();
        for install in &mut seed.extensions {
            let id = install.id.clone().unwrap_or_default();
            let token = match known.remove(&id) {
                Some(token) if install.token.is_none() => token,
                _ => hash(install.token.get_or_insert_with(|| self.new_token())),
            };
            tokens.insert(id, token);
        }
        let mut profiles = self.profiles_mut();
        if profiles.contains_key(name) {
            return Err(Refusal::ProfileExists);
        }
        let mut owners = self.tokens_mut();
        let mut own = BTreeSet::new();
        let is_others = |id: &String, token| {
            owners.get(token).is_some_and(|(profile, other)| profile != name || other != id)
        };
        if tokens.iter().any(|(id, token)| is_others(id, token) || !own.insert(token)) {
            return Err(Refusal::TokenTaken);
        }
        let prefix = [name.as_bytes(), b"/"].concat();
        let store = match &claim {
            Some(claim) => Some(Arc::clone(claim) as Arc<dyn KeyValue>),
            None => self.0.store.clone().filter(|_| rows != Rows::None),
        };
        let kept_rows = match &store {
            Some(store) if rows == Rows::Kept => rows_under(&**store, &prefix)?,
            _ => Vec::new(),
        };
        let (now, compat) = (self.0.clock.now(), self.0.compat);
        let fetched = Arc::new(FetchedPages::default());
        let engine = Box::new(self.engine(&seed, &fetched)?);
        let damaged = |row| StoreError::Corrupt(format!("profile {name}: {row}"));
        let session = match Browser::restore(now, compat, &kept_rows).map_err(damaged)? {
            Some(browser) => seed.resume(engine, browser)?,
            None => seed.session_on(engine, now, compat)?,
        };
        let is_kept = store.is_some();
        let kept = store.map(|store| (store, prefix));
        let entry = ProfileEntry {
            profile: Profile::new(session, self.0.clock.clone(), kept, rows == Rows::New),
            seed,
            tokens,
            from_seed_file,
            is_kept,
            is_made: rows != Rows::New,
            claim,
        };
        fetched.wakes(&entry.profile);
        for (id, token) in &entry.tokens {
            owners.insert(*token, (name.to_owned(), id.clone()));
        }
        profiles.insert(name.to_owned(), entry.clone());
        Ok(entry)
    }

    /// Forgets a profile, and all that was kept of it. Whoever listens to it is told that it is gone.
    pub(super) async fn remove_profile(&self, name: &str) -> Result<(), Refusal> {
        let entry = self.profiles_mut().remove(name).ok_or(Refusal::NoSuchProfile)?;
        self.tokens_mut().retain(|_, (profile, _)| profile != name);
        entry.profile.remove();
        if let Some(store) = self.store_of(&entry) {
            let mut gone = Vec::new();
            for prefix in [[name.as_bytes(), b"/"].concat(), record_prefix(name)] {
                let rows = rows_under(&*store, &prefix)?;
                gone.extend(
                    rows.into_iter().map(|(key, _)| ([&prefix[..], &key].concat().into(), None)),
                );
            }
            commit(&*store, gone).await?;
        }
        self.give_up(&entry).await
    }

    /// The store of a profile that is kept, as its owner writes to it.
    fn store_of(&self, entry: &ProfileEntry) -> Option<Arc<dyn KeyValue>> {
        match &entry.claim {
            Some(claim) => Some(Arc::clone(claim) as Arc<dyn KeyValue>),
            None => self.0.store.clone().filter(|_| entry.is_kept),
        }
    }

    /// Puts a profile back to its beginning; tokens and listeners stay.
    pub(super) async fn reset_profile(&self, name: &str) -> Result<(), Refusal> {
        self.put_back(&self.entry(name)?, &BTreeSet::new()).await
    }

    /// Puts the browser of a profile back to the beginning of its seed. Of its extensions these are others now.
    async fn put_back(
        &self,
        entry: &ProfileEntry,
        others: &BTreeSet<String>,
    ) -> Result<(), Refusal> {
        let fetched = Arc::new(FetchedPages::default());
        let engine = Box::new(self.engine(&entry.seed, &fetched)?);
        let (now, compat) = (self.0.clock.now(), self.0.compat);
        let session = entry.seed.session_on(engine, now, compat)?;
        fetched.wakes(&entry.profile);
        Ok(entry.profile.replace(session, others).await?)
    }

    /// The engine of a seed's pages, which fetches others where that is allowed.
    fn engine(&self, seed: &Seed, fetched: &Arc<FetchedPages>) -> Result<SimEngine, SeedError> {
        let engine = seed.engine(self.0.compat)?;
        Ok(match &self.0.fetching {
            Some(fetching) => {
                let clock = Arc::clone(&self.0.clock);
                engine.with_page_source(Fetcher::new(
                    Arc::clone(fetching),
                    Arc::clone(fetched),
                    clock,
                ))
            }
            None => engine,
        })
    }

    /// Installs an extension, or puts it in the place of the one with its id; gives its id and token.
    ///
    /// # Errors
    /// `NoSuchProfile`, `Seed`, `TokenTaken`, `Store`.
    pub(super) async fn install(&self, name: &str, mut install: Install) -> Result<Value, Refusal> {
        let reply = {
            let mut profiles = self.profiles_mut();
            let entry = profiles.get_mut(name).filter(|entry| entry.is_made);
            let entry = entry.ok_or(Refusal::NoSuchProfile)?;
            let mut owners = self.tokens_mut();
            let owner = install.token.as_deref().and_then(|token| owners.get(&hash(token)));
            // Who comes with the token of an extension is that extension.
            if let Some((_, id)) =
                owner.filter(|(profile, _)| profile == name && install.id.is_none())
            {
                install.id = Some(id.clone());
            }
            let id = install.assigned_id(|id| entry.tokens.contains_key(id))?;
            install.id = Some(id.clone());
            let extension = install.extension(0)?;
            let warnings = install.warnings(0)?;
            let is_own = |(profile, other): &(String, String)| profile == name && *other == id;
            if owner.is_some_and(|owner| !is_own(owner)) {
                return Err(Refusal::TokenTaken);
            }
            let token = install.token.get_or_insert_with(|| self.new_token());
            let (token, reply) =
                (hash(token), json!({ "id": id, "token": token, "warnings": warnings }));
            if let Some(old) = entry.tokens.insert(id.clone(), token) {
                owners.remove(&old);
            }
            owners.insert(token, (name.to_owned(), id.clone()));
            entry.seed.extensions.retain(|known| known.id.as_ref() != Some(&id));
            entry.seed.extensions.push(install);
            entry.from_seed_file.remove(&id);
            entry.profile.change_extension(&id, |browser| browser.install(extension));
            reply
        };
        self.record(name).await?;
        Ok(reply)
    }

    /// Removes an extension; its token is worth nothing from now on.
    ///
    /// # Errors
    /// `NoSuchProfile`, `NoSuchExtension`, `Store`.
    pub(super) async fn uninstall(&self, name: &str, id: &str) -> Result<(), Refusal> {
        {
            let mut profiles = self.profiles_mut();
            let entry = profiles.get_mut(name).filter(|entry| entry.is_made);
            let entry = entry.ok_or(Refusal::NoSuchProfile)?;
            let token = entry.tokens.remove(id).ok_or(Refusal::NoSuchExtension)?;
            entry.seed.extensions.retain(|known| known.id.as_deref() != Some(id));
            self.tokens_mut().remove(&token);
            entry.profile.change_extension(id, |browser| browser.uninstall(id));
        }
        self.record(name).await
    }

    /// Every profile but the first goes; the first is as at the first start, also where it was gone, and tokens that were drawn then are good.
    pub(super) async fn reset_all_profiles(&self) -> Result<(), Refusal> {
        self.admit(FIRST_PROFILE).await?;
        let others: Vec<_> =
            self.profiles().keys().filter(|name| *name != FIRST_PROFILE).cloned().collect();
        for name in others {
            match self.remove_profile(&name).await {
                // Somebody else removed it meanwhile.
                Ok(()) | Err(Refusal::NoSuchProfile) => {}
                Err(error) => return Err(error),
            }
        }
        let Some((entry, others)) = self.seed_first_profile() else {
            return self.add_first_profile(None, None);
        };
        self.put_back(&entry, &others).await?;
        self.record(FIRST_PROFILE).await
    }

    /// Gives the first profile the extensions of the seed file and their tokens; returns it, with the ids of those that were there, or are now, and are
    /// not the same.
    fn seed_first_profile(&self) -> Option<(ProfileEntry, BTreeSet<String>)> {
        let mut profiles = self.profiles_mut();
        let entry = profiles.get_mut(FIRST_PROFILE).filter(|entry| entry.is_made)?;
        let tokens: BTreeMap<_, _> = tokens_of(&self.0.seed).collect();
        let is_same =
            |id: &&String| entry.from_seed_file.contains(*id) && entry.tokens.contains_key(*id);
        let all = entry.tokens.keys().chain(tokens.keys());
        let others = all.filter(|id| !is_same(id)).cloned().collect();
        let mut owners = self.tokens_mut();
        owners.retain(|_, (profile, _)| profile != FIRST_PROFILE);
        owners.extend(
            tokens.iter().map(|(id, token)| (*token, (FIRST_PROFILE.to_owned(), id.clone()))),
        );
        // Where it was removed, one of this name may have been made of another seed.
        entry.seed = self.0.seed.clone();
        entry.seed.browser_version = entry.seed.browser_version.or(self.0.browser_version);
        entry.from_seed_file = tokens.keys().cloned().collect();
        entry.tokens = tokens;
        Some((entry.clone(), others))
    }

    /// Keeps what a profile is made of now; nothing of one that was removed meanwhile.
    ///
    /// # Errors
    /// `Seed`, `Store`.
    async fn record(&self, name: &str) -> Result<(), Refusal> {
        if let Some(sharing) = &self.0.sharing {
            let _turn = sharing.record_turn.lock().await;
            let rows = self.record_rows(&self.profiles(), name)?;
            return match rows {
                Some((store, writes)) => Ok(commit(&*store, writes).await?),
                None => Ok(()),
            };
        }
        for commit in self.begin_record(name)? {
            commit.await?;
        }
        Ok(())
    }

    /// Begins to keep it under the lock under which it is read, so that of two changes at once the record of the later one stays.
    fn begin_record(&self, name: &str) -> Result<Vec<Commit>, Refusal> {
        let profiles = self.profiles_mut();
        let rows = self.record_rows(&profiles, name)?;
        Ok(rows.map_or_else(Vec::new, |(store, writes)| begin(&*store, writes)))
    }

    /// The rows of the record of a profile, and the store that they go to; `None` where it is not kept.
    fn record_rows(
        &self,
        profiles: &BTreeMap<String, ProfileEntry>,
        name: &str,
    ) -> Result<Option<RecordRows>, Refusal> {
        let entry = profiles.get(name);
        let kept = entry.and_then(|entry| Some((self.store_of(entry)?, entry)));
        let Some((store, entry)) = kept else {
            return Ok(None);
        };
        let writes = entry.record(name).writes(&*store, name)?;
        Ok(Some((store, writes)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::sync::{Mutex, TryLockError};

    use triptych_core::kv::{Batch, Found, Memory, Page, Span, Version};
    use triptych_core::pending::Pending;

    use super::*;
    use crate::http::large_write::tests::Ending;
    use crate::http::token::hash;

    fn api(store: &Arc<Memory>, seed: &str) -> TabsApi {
        let store = Arc::clone(store) as Arc<dyn KeyValue>;
        let builder = TabsApi::builder().store(store);
        builder.seed(Seed::parse(seed).unwrap()).build().unwrap()
    }

    fn install(token: &str, name: &str) -> Install {
        serde_json::from_value(json!({ "token": token, "manifest": { "name": name } })).unwrap()
    }

    #[tokio::test]
    async fn profiles_and_extensions_are_there_after_a_restart_and_their_tokens_are_not_kept() {
        let store = Arc::new(Memory::default());
        let seed = r#"{"extensions": [{"token": "first", "manifest": {"name": "First"}}]}"#;
        let before = api(&store, seed);
        before.install(FIRST_PROFILE, install("second", "Second")).await.unwrap();
        let others = r#"{"extensions": [{"token": "third", "manifest": {"name": "Third"}}]}"#;
        let others = Seed::parse(others).unwrap();
        before.create_profile("other", others.clone(), true).await.unwrap();
        before.create_profile("fleeting", Seed::default(), false).await.unwrap();
        before.create_profile("removed", Seed::default(), true).await.unwrap();
        before.remove_profile("removed").await.unwrap();
        let owners = before.tokens().clone();
        let after = api(&store, seed);
        let names: Vec<_> = after.profiles().keys().cloned().collect();
        assert_eq!(names, ["default", "other"]);
        assert_eq!(*after.tokens(), owners);
        assert_eq!(after.tokens().len(), 3);
        let second = after.tokens()[&hash("second")].1.clone();
        assert_eq!(after.entry(FIRST_PROFILE).unwrap().manifest(&second)["name"], "Second");
        for (_, row) in rows_under(&*store, b"").unwrap() {
            let text = String::from_utf8_lossy(&row).into_owned();
            assert!(!text.contains("\"second\"") && !text.contains("\"third\""), "{text}");
        }
        after.reset_all_profiles().await.unwrap();
        let anew = api(&store, seed);
        assert_eq!(anew.tokens().len(), 1);
    }

    #[tokio::test]
    async fn a_reset_of_everything_brings_the_seed_file_back_whatever_was_done_to_its_extensions() {
        let seed = r#"{"extensions": [{"token": "gone", "manifest": {"name": "Gone"}}, {"manifest": {"name": "Drawn"}},
            {"token": "changed", "manifest": {"name": "Changed", "permissions": []}}]}"#;
        let api = api(&Arc::default(), seed);
        let tokens = api.tokens().clone();
        let manifests = |api: &TabsApi| {
            let entry = api.entry(FIRST_PROFILE).unwrap();
            entry.tokens.keys().map(|id| entry.manifest(id)).collect::<Vec<_>>()
        };
        let before = manifests(&api);
        let id_of = |token: &str| tokens[&hash(token)].1.clone();
        api.uninstall(FIRST_PROFILE, &id_of("gone")).await.unwrap();
        let drawn = tokens.values().map(|(_, id)| id);
        let drawn = drawn.into_iter().find(|id| **id != id_of("gone") && **id != id_of("changed"));
        api.uninstall(FIRST_PROFILE, drawn.unwrap()).await.unwrap();
        api.install(FIRST_PROFILE, install("changed", "Other")).await.unwrap();
        api.install(FIRST_PROFILE, install("added", "Added")).await.unwrap();
        assert_ne!(*api.tokens(), tokens);
        api.reset_all_profiles().await.unwrap();
        assert_eq!((&*api.tokens(), manifests(&api)), (&tokens, before.clone()));
        api.create_profile("other", Seed::default(), true).await.unwrap();
        api.remove_profile(FIRST_PROFILE).await.unwrap();
        api.reset_all_profiles().await.unwrap();
        assert_eq!((&*api.tokens(), manifests(&api)), (&tokens, before));
        assert_eq!(api.profiles().keys().collect::<Vec<_>>(), [FIRST_PROFILE]);
    }

    type Meanwhile = Box<dyn FnOnce() + Send>;

    /// A store in which something else happens while what is kept is read.
    #[derive(Default)]
    struct Interrupted {
        rows: Memory,
        meanwhile: Mutex<Option<Meanwhile>>,
    }

    impl KeyValue for Interrupted {
        fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
            self.rows.get(key)
        }

        fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
            let meanwhile = self.meanwhile.lock().unwrap().take();
            if let Some(meanwhile) = meanwhile {
                meanwhile();
            }
            self.rows.scan(span, limit)
        }

        fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
            self.rows.commit(batch)
        }

        fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
            self.rows.durable(seen)
        }
    }

    #[tokio::test]
    async fn a_profile_whose_record_was_not_kept_is_none_and_can_be_made_again() {
        let store = Arc::new(Ending::default());
        let api = TabsApi::builder().store(Arc::clone(&store) as Arc<dyn KeyValue>).build();
        let api = api.unwrap();
        let seed = r#"{"extensions": [{"token": "other", "manifest": {"name": "Other"}}]}"#;
        let make = || api.create_profile("other", Seed::parse(seed).unwrap(), true);
        assert!(matches!(make().await, Err(Refusal::Store(_))));
        assert!(matches!(api.entry("other"), Err(Refusal::NoSuchProfile)));
        assert!(api.tokens().is_empty(), "a token leads to what is not there");
        store.commits_left.store(usize::MAX, Ordering::Relaxed);
        make().await.unwrap();
        assert_eq!(api.entry("other").unwrap().tokens.len(), 1);
    }

    /// Does a change of a profile, and a second one from the moment on at which the first keeps what it made, if the profile can be had then:
    /// where the record was read before that moment, it is older than the second change and written after it.
    async fn do_one_while_the_other_is_kept(
        api: &TabsApi,
        store: &Interrupted,
        one: impl Future<Output = ()>,
        other: impl Future<Output = ()> + Send + 'static,
    ) {
        let (inner, runtime) = (api.clone(), tokio::runtime::Handle::current());
        let held = Arc::new(Mutex::new(Some(other)));
        let later = Arc::clone(&held);
        *store.meanwhile.lock().unwrap() = Some(Box::new(move || {
            if matches!(inner.0.profiles.try_write(), Err(TryLockError::WouldBlock)) {
                return;
            }
            let other = later.lock().unwrap().take().unwrap();
            std::thread::spawn(move || runtime.block_on(other)).join().unwrap();
        }));
        one.await;
        assert!(store.meanwhile.lock().unwrap().is_none(), "nothing was kept");
        let left = held.lock().unwrap().take();
        if let Some(other) = left {
            other.await;
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn extensions_that_are_installed_at_once_are_all_there_after_a_restart() {
        let store = Arc::new(Interrupted::default());
        let on = |store: &Arc<Interrupted>| {
            let store = Arc::clone(store) as Arc<dyn KeyValue>;
            TabsApi::builder().store(store).build().unwrap()
        };
        let before = on(&store);
        let install = |name: &'static str| {
            let before = before.clone();
            async move { drop(before.install(FIRST_PROFILE, install(name, name)).await.unwrap()) }
        };
        do_one_while_the_other_is_kept(&before, &store, install("one"), install("two")).await;
        assert_eq!(on(&store).tokens().len(), 2);
        let gone = on(&store).tokens()[&hash("one")].1.clone();
        let uninstall = {
            let before = before.clone();
            async move { before.uninstall(FIRST_PROFILE, &gone).await.unwrap() }
        };
        do_one_while_the_other_is_kept(&before, &store, install("three"), uninstall).await;
        let kept: BTreeSet<_> = on(&store).tokens().keys().copied().collect();
        assert_eq!(kept, BTreeSet::from([hash("two"), hash("three")]));
    }

    #[tokio::test]
    async fn two_extensions_of_one_name_have_ids_of_their_own() {
        let api = api(&Arc::default(), "{}");
        let one = api.install(FIRST_PROFILE, install("one", "Same")).await.unwrap();
        let two = api.install(FIRST_PROFILE, install("two", "Same")).await.unwrap();
        assert_ne!(one["id"], two["id"]);
        let again = api.install(FIRST_PROFILE, install("one", "Renamed")).await.unwrap();
        assert_eq!(again["id"], one["id"], "a token stays with its extension");
        let seed = Seed::parse(
            r#"{"extensions": [{"manifest": {"name": "Same"}}, {"manifest": {"name": "Same"}}]}"#,
        );
        let entry = api.create_profile("test", seed.unwrap(), true).await.unwrap();
        assert_eq!(entry.tokens.len(), 2);
    }

    #[tokio::test]
    async fn names_that_are_no_key_are_refused() {
        let api = api(&Arc::default(), "{}");
        for name in ["", "a/b", "!x", "ä", ".", "..", &"x".repeat(65)] {
            let refused = api.create_profile(name, Seed::default(), true).await;
            assert!(matches!(refused, Err(Refusal::BadName)), "{name}");
        }
    }
}
