//! Profiles on a store that instances share: each that is kept runs at one of them, which every batch of its rows proves anew.
//!
//! A profile is opened by the instance that is asked for it first, and goes on at another once that one has ended or shows no life. Whoever
//! is asked for one that runs elsewhere says where. A former owner that wakes up finds that its batches are refused, and gives nothing from
//! memory either: one that was away for long looks at its claims before it answers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use http::request::Parts as Head;
use tokio::time::Instant;
use triptych_core::id::Ids;
use triptych_core::kv::{
    BEAT_EVERY, Claim, Guarded, KeyValue, Member, PATIENCE, StoreError, holder_of,
};

use super::large_write::{commit_in_turn, unfinished};
use super::profile_record::{Record, is_row_of, read_record, records};
use super::profiles::{ProfileEntry, Rows};
use super::refusal::Refusal;
use super::token::{self, TokenHash};
use super::{FIRST_PROFILE, Inner, TabsApi};

/// Time after a sign of life for which nobody else can have taken a claim, with room to spare.
const SURE: Duration = Duration::from_secs(PATIENCE.as_secs() / 2);

/// This instance among those that share a store.
pub(super) struct Sharing {
    store: Arc<dyn KeyValue>,
    member: tokio::sync::Mutex<Member>,
    start: Instant,
    /// Held while the record of a profile is kept, so that of two the later one stays.
    pub(super) record_turn: tokio::sync::Mutex<()>,
    /// The moment before the last sign of life that was stored.
    beat: Mutex<Option<Instant>>,
}

impl Sharing {
    /// This instance, which is reached at `place`.
    pub(super) fn new(store: Arc<dyn KeyValue>, place: &str, ids: &mut dyn Ids) -> Self {
        let member = tokio::sync::Mutex::new(Member::new(place, ids));
        Self {
            store,
            member,
            start: Instant::now(),
            record_turn: tokio::sync::Mutex::default(),
            beat: Mutex::default(),
        }
    }

    /// Returns whether no claim of this instance can have been taken by now.
    fn is_sure(&self) -> bool {
        let beat = *self.beat.lock().unwrap_or_else(PoisonError::into_inner);
        beat.is_some_and(|beat| beat.elapsed() < SURE)
    }

    /// Takes note of a sign of life that was begun at `before`. From then on nothing is looked up for a while, so that every claim must be
    /// known to have been held since.
    fn note_beat(&self, before: Instant) {
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    }
}

/// Gives signs of life, and lets go of what was taken meanwhile, until the last handle of the service is gone.
pub(super) async fn keep_alive(service: Weak<Inner>) {
    while let Some(api) = service.upgrade().map(TabsApi) {
        let Some(sharing) = &api.0.sharing else { return };
        let before = Instant::now();
        let stored = sharing.member.lock().await.beat(&*sharing.store).await;
        match stored {
            Err(error) => {
                tracing::warn!(%error, "other instances are not told that this one lives");
            }
            // After a long silence this sign would hide that others have taken what they found.
            Ok(()) => {
                if sharing.is_sure() || api.let_go_of_lost() {
                    sharing.note_beat(before);
                }
            }
        }
        drop(api);
        tokio::time::sleep(BEAT_EVERY).await;
    }
}

impl TabsApi {
    /// Sees to it that the profile of a request's token runs here, if instances share the store.
    ///
    /// # Errors
    /// As [`TabsApi::admit`].
    pub(super) async fn admit_token(&self, head: &Head) -> Result<(), Refusal> {
        let Some(token) = self.0.sharing.as_ref().and_then(|_| token::token(head, true)) else {
            return Ok(());
        };
        let hash = token::hash(&token);
        let known = self.tokens().get(&hash).map(|(profile, _)| profile.clone());
        let profile = match known {
            Some(profile) => Some(profile),
            None => self.profile_of(hash)?,
        };
        match profile {
            Some(profile) => self.admit(&profile).await,
            None => Ok(()),
        }
    }

    /// The profile of which another instance has kept this token.
    pub(super) fn profile_of(&self, hash: TokenHash) -> Result<Option<String>, Refusal> {
        let Some(sharing) = &self.0.sharing else { return Ok(None) };
        let mut all = records(&*sharing.store)?.into_iter();
        let found = all.find(|(_, record)| record.tokens.values().any(|token| *token == hash));
        Ok(found.map(|(name, _)| name))
    }

    /// The refusal of a token's profile that was admitted and does not run here: it was taken meanwhile, or is none any more.
    pub(super) fn gone(&self, name: &str) -> Refusal {
        let Some(sharing) = &self.0.sharing else { return Refusal::Unauthorized };
        match read_record(&*sharing.store, name) {
            Ok(None) if name != FIRST_PROFILE => Refusal::Unauthorized,
            Ok(_) => Refusal::ProfileNotReady,
            Err(error) => error,
        }
    }

    /// Returns whether a profile is being made here.
    fn is_being_made(&self, name: &str) -> bool {
        self.profiles().get(name).is_some_and(|entry| !entry.is_made)
    }

    /// Sees to it that a profile that is kept runs here, if instances share the store. Of one that there is not it says nothing.
    ///
    /// # Errors
    /// `ProfileNotReady`, `RunsElsewhere`, `Store`, `Seed`.
    pub(super) async fn admit(&self, name: &str) -> Result<(), Refusal> {
        let Some(sharing) = &self.0.sharing else { return Ok(()) };
        if self.is_being_made(name) {
            return Err(Refusal::ProfileNotReady);
        }
        if let Ok(entry) = self.entry(name)
            && is_good(&entry, sharing)?
        {
            return Ok(());
        }
        let is_there = |store: &dyn KeyValue| {
            Ok::<_, Refusal>(name == FIRST_PROFILE || read_record(store, name)?.is_some())
        };
        if !is_there(&*sharing.store)? {
            return Ok(());
        }
        let mut member = sharing.member.lock().await;
        if self.is_being_made(name) {
            return Err(Refusal::ProfileNotReady);
        }
        if let Ok(entry) = self.entry(name) {
            // Another request may have opened it meanwhile.
            if is_good(&entry, sharing)? {
                return Ok(());
            }
            self.let_go(name, &entry);
            // What could not be kept may reach the store yet: not under the next claim.
            match give_up(&entry, sharing, &mut member).await {
                Ok(()) | Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let store = self.claim(name, sharing, &mut member).await?;
        if is_there(&*store)? {
            commit_in_turn(&*store, unfinished(&*store, |key| is_row_of(name, key))?).await?;
            self.open(name, store)?;
        }
        Ok(())
    }

    /// Claims a profile for this instance; gives the store as its owner writes to it.
    ///
    /// # Errors
    /// `RunsElsewhere`, `Store`.
    async fn claim(
        &self,
        name: &str,
        sharing: &Sharing,
        member: &mut Member,
    ) -> Result<Arc<Guarded>, Refusal> {
        let claim = format!("profile/{name}");
        match member.claim(&*sharing.store, &claim, sharing.start.elapsed()).await {
            Ok(Claim::Own(guard)) => {
                tracing::info!(profile = name, epoch = guard.epoch, "the profile runs here");
                Ok(Arc::new(Guarded::new(Arc::clone(&sharing.store), guard)))
            }
            Ok(Claim::Others(holder)) => Err(Refusal::RunsElsewhere(holder.place)),
            Err(StoreError::Conflict) => match holder_of(&*sharing.store, &claim)? {
                Some(holder) => Err(Refusal::RunsElsewhere(holder.place)),
                None => Err(StoreError::Conflict.into()),
            },
            Err(error) => Err(error.into()),
        }
    }

    /// Claims the name of a profile that is to be made and kept, where instances share the store.
    ///
    /// # Errors
    /// `ProfileExists`, `Store`.
    pub(super) async fn claim_new(&self, name: &str) -> Result<Option<Arc<Guarded>>, Refusal> {
        let Some(sharing) = &self.0.sharing else { return Ok(None) };
        if name == FIRST_PROFILE || read_record(&*sharing.store, name)?.is_some() {
            return Err(Refusal::ProfileExists);
        }
        let mut member = sharing.member.lock().await;
        let store = match self.claim(name, sharing, &mut member).await {
            Err(Refusal::RunsElsewhere(_)) => return Err(Refusal::ProfileExists),
            claimed => claimed?,
        };
        // It may have been made, and given up, since the look before.
        match read_record(&*store, name)? {
            Some(_) => Err(Refusal::ProfileExists),
            None => Ok(Some(store)),
        }
    }

    /// Gives up the claim on a profile of which nothing is kept any more.
    ///
    /// # Errors
    /// `Store`.
    pub(super) async fn give_up(&self, entry: &ProfileEntry) -> Result<(), Refusal> {
        let Some(sharing) = &self.0.sharing else { return Ok(()) };
        let mut member = sharing.member.lock().await;
        Ok(give_up(entry, sharing, &mut member).await?)
    }

    /// Lets go of every profile that was taken. Returns whether the others are known to be held.
    fn let_go_of_lost(&self) -> bool {
        let all: Vec<_> =
            self.profiles().iter().map(|(name, e)| (name.clone(), e.clone())).collect();
        let mut is_known = true;
        for (name, entry) in all {
            match entry.claim.as_ref().map_or(Ok(true), |claim| claim.is_held()) {
                Ok(true) => {}
                Ok(false) => self.let_go(&name, &entry),
                Err(_) => is_known = false,
            }
        }
        is_known
    }

    /// Lets go of a profile, if it still is this one; whoever listens to it comes back to where it runs.
    fn let_go(&self, name: &str, entry: &ProfileEntry) {
        let mut profiles = self.profiles_mut();
        if profiles.get(name).is_some_and(|now| Arc::ptr_eq(&now.profile, &entry.profile)) {
            tracing::warn!(profile = name, "the profile does not run here any more");
            profiles.remove(name);
            entry.profile.remove();
        }
    }

    /// Opens a profile that was claimed.
    fn open(&self, name: &str, store: Arc<Guarded>) -> Result<(), Refusal> {
        let record = read_record(&*store, name)?;
        self.tokens_mut().retain(|_, (profile, _)| profile != name);
        if name == FIRST_PROFILE {
            self.add_first_profile(record, Some(store))?;
        } else if let Some(record) = record {
            let Record { seed, tokens } = record;
            self.add_profile(name, seed, tokens, BTreeSet::new(), Rows::Kept, Some(store))?;
        }
        Ok(())
    }
}

/// Returns whether a profile still runs here: it could be kept so far, and was not taken.
fn is_good(entry: &ProfileEntry, sharing: &Sharing) -> Result<bool, StoreError> {
    let Some(claim) = &entry.claim else { return Ok(true) };
    Ok(!entry.profile.has_failed() && (sharing.is_sure() || claim.is_held()?))
}

async fn give_up(
    entry: &ProfileEntry,
    sharing: &Sharing,
    member: &mut Member,
) -> Result<(), StoreError> {
    match &entry.claim {
        Some(claim) => member.give_up(&*sharing.store, claim.guard()).await,
        None => Ok(()),
    }
}
