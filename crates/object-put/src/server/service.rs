//! The service as others drive it: as a `hyper` and a `tower` service, and under the host.

use http::{Request, Response};
use triptych_core::blobs;
use triptych_core::error::Coded;
use triptych_core::host::{
    Body as HostBody, ControlAnswer, Hosted, Refusal, ReplyBody, RequestHead,
};
use triptych_core::kv::{self, StoreError, run};

use crate::maintenance::root_keys;
use crate::maintenance::seed::SeedError;
use crate::operation::bucket::reopen;
use crate::request::dialect::{Dialect, SECRET_PARAMETERS};
use crate::request::fields::Fields;
use crate::request::query::Query;
use crate::server::render;
use crate::server::state::{ATTEMPTS_MAX, ObjectPut};
use crate::store::session_key;

triptych_core::impl_service!(ObjectPut: Unpin);

impl Hosted for ObjectPut {
    fn refuse(&self, refusal: &Refusal, request: &RequestHead<'_>) -> Response<ReplyBody> {
        let entries = request.headers.iter();
        let fields = Fields::of(entries.map(|(name, value)| (name.as_str(), value.as_bytes())));
        let query = Query::parse(request.uri.query().unwrap_or_default()).unwrap_or_default();
        let dialect = Dialect::of(fields.iter(), query.names()).ok().flatten();
        let dialect = dialect.unwrap_or(self.0.settings.dialect);
        let row = refusal.row();
        let body = render::error_body(row.code, &refusal.to_string(), [], request.id);
        let mut response = render::xml(row.status, body);
        render::identify(&mut response, dialect, request.id, self.0.clock.now());
        response
    }

    fn secret_parameters(&self) -> &'static [&'static str] {
        &SECRET_PARAMETERS
    }

    async fn reset(&self) -> Result<(), String> {
        self.clear().await.map_err(|error| error.to_string())?;
        self.apply_seed().await.map(drop).map_err(|error| error.to_string())
    }

    async fn control(
        &self,
        request: Request<HostBody>,
    ) -> Result<ControlAnswer, Request<HostBody>> {
        self.answer_control(request).await
    }

    fn owns_host(&self, host: &str) -> bool {
        self.0.settings.hosts.find(host).is_some()
    }
}

impl ObjectPut {
    /// Applies the seed: accounts and keys that are new, buckets if there is none. Gives how many accounts and keys came.
    /// To be run before the first request: the root key is remembered, and buckets whose deletion a stop cut short are opened again.
    ///
    /// # Errors
    /// [`SeedError::Store`].
    pub async fn apply_seed(&self) -> Result<usize, SeedError> {
        let now = self.0.clock.now();
        let mut ids = self.ids();
        let new = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
            reopen(tx)?;
            root_keys::remember(tx, &self.0.bodies.keyring)?;
            session_key::ensure(tx, &self.0.bodies.keyring, ids)?;
            let new = self.0.seed.apply(tx, ids, now)?;
            Ok::<_, SeedError>(
                new + self.0.seed.apply_kms_keys(tx, ids, &self.0.embedded_keys.now())?,
            )
        })
        .await?;
        self.load_access_points()?;
        Ok(new)
    }

    /// Deletes every row, then every body.
    async fn clear(&self) -> Result<(), StoreError> {
        kv::clear(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX).await?;
        blobs::clear(&*self.0.bodies.blobs).await;
        self.0.bodies.keys.clear();
        Ok(())
    }
}
