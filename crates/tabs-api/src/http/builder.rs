//! The builder of the service.

use std::sync::{Arc, RwLock};

use triptych_core::id::{Ids, SharedIds, SystemIds};
use triptych_core::kv::KeyValue;
use triptych_core::time::{Clock, SystemClock};

use super::fetch::FetchLimits;
use super::origin_policy::OriginPolicy;
use super::refusal::Refusal;
use super::sharing::{Sharing, keep_alive};
use super::{Inner, TabsApi, drawn_token};
use crate::browser::Compat;
use crate::engine::allowed_hosts::AllowedHosts;
use crate::seed::{Seed, SeedError, is_sendable};
use crate::version::BrowserVersion;

/// The parts that a [`TabsApi`] is built from.
pub struct Builder {
    clock: Arc<dyn Clock>,
    compat: Compat,
    origin_policy: OriginPolicy,
    control_token: Option<String>,
    ids: Box<dyn Ids>,
    seed: Seed,
    browser_version: Option<BrowserVersion>,
    #[cfg(feature = "replay")]
    replay: Option<crate::replay::Replay>,
    fetched_hosts: AllowedHosts,
    store: Option<Arc<dyn KeyValue>>,
    place: String,
}

impl TabsApi {
    /// A service of one browser; all else has defaults.
    #[must_use]
    pub fn builder() -> Builder {
        Builder {
            clock: Arc::new(SystemClock::new()),
            compat: Compat::default(),
            origin_policy: OriginPolicy::default(),
            control_token: None,
            ids: Box::new(SystemIds),
            seed: Seed::default(),
            browser_version: None,
            #[cfg(feature = "replay")]
            replay: None,
            fetched_hosts: AllowedHosts::default(),
            store: None,
            place: String::new(),
        }
    }
}

impl Builder {
    /// The clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets which of specification and recorded browser counts where they differ.
    #[must_use]
    pub const fn compat(mut self, compat: Compat) -> Self {
        self.compat = compat;
        self
    }

    /// Host names of this server, beside `localhost` and IP literals.
    #[must_use]
    pub fn base_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.origin_policy.base_hosts.extend(hosts);
        self
    }

    /// Origins of web pages that may use the service.
    #[must_use]
    pub fn origins(mut self, origins: impl IntoIterator<Item = String>) -> Self {
        self.origin_policy.origins.extend(origins);
        self
    }

    /// The token of the control side; without one the control side is closed.
    #[must_use]
    pub fn control_token(mut self, token: impl Into<String>) -> Self {
        self.control_token = Some(token.into());
        self
    }

    /// Sets the source of tokens.
    #[must_use]
    pub fn ids(mut self, ids: Box<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }

    /// Extensions, pages and windows of the first profile.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Fetches pages of these hosts that no fixtures describe; building then needs a tokio runtime.
    #[must_use]
    pub fn fetch(mut self, hosts: AllowedHosts) -> Self {
        self.fetched_hosts = hosts;
        self
    }

    /// Sets the version of which the browsers of profiles are that name none.
    #[must_use]
    pub const fn browser_version(mut self, version: BrowserVersion) -> Self {
        self.browser_version = Some(version);
        self
    }

    /// Offers the replay contract of recorded scenarios under `/oracle/`.
    #[cfg(feature = "replay")]
    #[must_use]
    pub fn replay(mut self, replay: crate::replay::Replay) -> Self {
        self.replay = Some(replay);
        self
    }

    /// Sets the store of profiles; without one they end with the service. Building then needs a tokio runtime.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn KeyValue>) -> Self {
        self.store = Some(store);
        self
    }

    /// Sets the URL that other instances on the store send clients to, for profiles that run at this one.
    #[must_use]
    pub fn place(mut self, url: impl Into<String>) -> Self {
        self.place = url.into();
        self
    }

    /// The service.
    ///
    /// # Errors
    /// [`SeedError`] if the seed, an origin or the control token cannot be used.
    pub fn build(mut self) -> Result<TabsApi, SeedError> {
        self.origin_policy.check_origins()?;
        if !self.control_token.as_deref().is_none_or(is_sendable) {
            return Err(SeedError::ControlToken);
        }
        let shared = self.store.clone().filter(|store| !store.is_local());
        let sharing = shared.map(|store| Sharing::new(store, &self.place, &mut *self.ids));
        let ids = SharedIds::new(self.ids);
        // Drawn once, so that they stay good as long as this service runs.
        self.seed.assign_ids()?;
        for install in &mut self.seed.extensions {
            install.token.get_or_insert_with(|| drawn_token(&ids));
        }
        let api = TabsApi(Arc::new(Inner {
            clock: self.clock,
            compat: self.compat,
            origin_policy: self.origin_policy,
            control_token: self.control_token,
            ids,
            seed: self.seed,
            browser_version: self.browser_version,
            profiles: RwLock::default(),
            tokens: RwLock::default(),
            #[cfg(feature = "replay")]
            replay: self.replay.map(std::sync::Mutex::new),
            fetching: Some(self.fetched_hosts)
                .filter(|hosts| !hosts.is_empty())
                .map(FetchLimits::new),
            store: self.store,
            sharing,
        }));
        if api.0.sharing.is_some() {
            tokio::spawn(keep_alive(Arc::downgrade(&api.0)));
        }
        match api.restore() {
            Ok(()) => Ok(api),
            Err(Refusal::Seed(error)) => Err(error),
            Err(Refusal::Store(error)) => Err(SeedError::Window(error.into())),
            Err(other) => Err(SeedError::Pages(other.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_not_built_with_a_token_or_an_origin_that_nobody_sends() {
        for token in ["", " a", "a ", "tök", "two\nlines"] {
            let built = TabsApi::builder().control_token(token).build();
            assert!(matches!(built, Err(SeedError::ControlToken)), "{token:?}");
        }
        let built = TabsApi::builder().origins(["http://a.test/".into()]).build();
        assert!(matches!(built, Err(SeedError::Origin(origin)) if origin == "http://a.test/"));
        let built = TabsApi::builder().control_token("a b").origins(["http://a.test".into()]);
        assert!(built.build().is_ok());
    }
}
