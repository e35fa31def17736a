//! The service under its host and as a `hyper` and `tower` service.

use http::Response;
use triptych_core::host::{Hosted, Refusal, ReplyBody, RequestHead};

use super::{TabsApi, refusal};

impl Hosted for TabsApi {
    fn refuse(&self, refusal: &Refusal, _: &RequestHead<'_>) -> Response<ReplyBody> {
        refusal::refused(refusal, &refusal.to_string())
    }

    /// Every profile but the first goes; the first is as the seed file has it.
    async fn reset(&self) -> Result<(), String> {
        self.reset_all_profiles().await.map_err(|error| error.to_string())
    }
}

triptych_core::impl_service!(TabsApi);
