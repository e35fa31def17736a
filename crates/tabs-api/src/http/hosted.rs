//! What the host asks of the service: its refusals as JSON, and its reset.

use http::Response;
use triptych_core::host::{Hosted, Refusal, ReplyBody, RequestHead};

use super::{FIRST_PROFILE, TabsApi, refusal};

impl Hosted for TabsApi {
    fn refuse(&self, refusal: &Refusal, _: &RequestHead<'_>) -> Response<ReplyBody> {
        refusal::refused(refusal, &refusal.to_string())
    }

    /// Every profile but the first goes; the first is as the seed file has it.
    async fn reset(&self) -> Result<(), String> {
        let mut profiles = self.profiles_mut();
        profiles.retain(|name, _| name == FIRST_PROFILE);
        if let Some(entry) = profiles.get_mut(FIRST_PROFILE) {
            let mut seed = self.0.seed.clone();
            // Tokens that were drawn at the start stay good.
            for (install, known) in seed.extensions.iter_mut().zip(&entry.seed.extensions) {
                install.token.clone_from(&known.token);
            }
            entry.seed = seed;
        }
        drop(profiles);
        self.reset_tokens().map_err(|error| error.to_string())?;
        self.reset_profile(FIRST_PROFILE)
            .map_err(|error| error.to_string())
    }
}

impl TabsApi {
    /// Leaves the tokens of the seed file alone.
    fn reset_tokens(&self) -> Result<(), super::Refusal> {
        let entry = self.entry(FIRST_PROFILE)?;
        let mut tokens = self.tokens_mut();
        tokens.clear();
        for install in &entry.seed.extensions {
            let token = super::access::hash(install.token.as_deref().unwrap_or_default());
            tokens.insert(token, (FIRST_PROFILE.to_owned(), install.id()?));
        }
        Ok(())
    }
}
