//! The service under its host: its refusals as JSON, and its reset.

use http::Response;
use triptych_core::host::{Hosted, Refusal, ReplyBody, RequestHead};

use super::{TabsApi, refusal};

impl Hosted for TabsApi {
    fn refuse(&self, refusal: &Refusal, _: &RequestHead<'_>) -> Response<ReplyBody> {
        refusal::refused(refusal, &refusal.to_string())
    }

    /// Every profile but the first goes; the first is as the seed file has it.
    async fn reset(&self) -> Result<(), String> {
        self.begin_anew().await.map_err(|error| error.to_string())
    }
}
