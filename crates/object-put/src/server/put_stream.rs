//! Uploads: a look that refuses, the body as it streams by, and a commit that decides again.

use bytes::Bytes;
use triptych_core::host::{BoxError, PieceBody};
use triptych_core::id::{Ids, SharedIds};
use triptych_core::kv::{Tx, run};

use crate::auth::signature::Verified;
use crate::body::verifier::Verifier;
use crate::error::Error;
use crate::operation::append::GrowingObject;
use crate::operation::copy_object::CopyAdmission;
use crate::operation::put_object::Admission;
use crate::operation::{BodySource, Call, Reply};
use crate::server::download::Download;
use crate::server::read_ahead::ObjectBytes;
use crate::server::request::ParsedRequest;
use crate::server::state::{ATTEMPTS_MAX, ObjectPut};
use crate::server::upload::{self, Intake};
use crate::store::append::{self, NewPart};
use crate::store::commit::{NewVersion, commit};
use crate::store::part_list::Parts;
use crate::store::version::ObjectVersion;

impl ObjectPut {
    /// Stores an object whose body comes from `source`.
    pub(super) async fn upload<B>(
        &self,
        request: &ParsedRequest<'_>,
        source: BodySource,
        body: &mut B,
    ) -> Result<Reply, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        match source {
            BodySource::Request => self.put(request, body).await,
            BodySource::Object => self.copy(request, body).await,
            BodySource::PartOfRequest => self.put_part(request, body).await,
            BodySource::PartOfObject => self.copy_part(request, body).await,
        }
    }

    /// PutObject: look and refuse, take the body, decide again and commit.
    pub(super) async fn put<B>(
        &self,
        request: &ParsedRequest<'_>,
        body: &mut B,
    ) -> Result<Reply, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let mut ids = self.ids();
        let decide = |call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids| {
            Admission::decide(call, request.verified.payload, tx, ids)
        };
        let admission = self.admit(request, &mut ids, decide).await?;
        if let Some(growing) = &admission.growing {
            return self.append(request, &admission, growing, body, ids).await;
        }
        let object = self.store(request, &admission, &request.verified, body, ids).await?;
        admission.reply(&request.fields, &object)
    }

    /// Takes the body of an admitted append, looks at the object again and commits.
    async fn append<B>(
        &self,
        request: &ParsedRequest<'_>,
        admission: &Admission,
        growing: &GrowingObject,
        body: &mut B,
        mut ids: SharedIds,
    ) -> Result<Reply, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let bodies = &self.0.bodies;
        let body_key = bodies.keys.open(&growing.opening).await?;
        let context = admission.context_of_part(growing);
        let headers = &admission.headers.body;
        let verifier = Verifier::new(request.fields.dialect(), headers, &request.verified);
        let intake = Intake { headers, verifier, key: &body_key, context: &context };
        let stored = upload::receive(bodies, body, intake, &mut ids, request.now).await?;
        let part = admission.appended_part(&stored.digested, stored.part(growing.number));
        let (list, now) = (ids.next(), self.0.clock.now());
        let committed = run(&*request.store, &mut ids, ATTEMPTS_MAX, |tx, _| {
            let offset = admission.headers.offset.unwrap_or_default();
            append::append(
                tx,
                &NewPart {
                    bucket: &admission.bucket,
                    key: &admission.key,
                    seen: growing.version,
                    offset,
                    part: &part,
                    etag: hex::encode(part.tag),
                    list,
                    now,
                },
            )
        })
        .await;
        stored.delete_unnamed(bodies, &committed).await;
        admission.append_reply(&request.fields, &committed?, &stored.digested.checksum)
    }

    /// CopyObject: a PUT whose body is another object's.
    async fn copy<B>(&self, request: &ParsedRequest<'_>, body: &mut B) -> Result<Reply, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let mut ids = self.ids();
        let copy = self.admit(request, &mut ids, CopyAdmission::decide).await?;
        upload::refuse(body).await?;
        let bytes = copy.source.bytes();
        let source_key = self.0.bodies.keys.open(&bytes.key).await?;
        let mut source = Download::new(self.0.bodies.clone(), ObjectBytes::new(bytes), source_key);
        source.keep_open();
        let mut body = PieceBody::new(source);
        let unsigned = Verified::unsigned(copy.admission.headers.body.payload);
        let stored = self.store(request, &copy.admission, &unsigned, &mut body, ids).await;
        let object = stored.map_err(|error| match error {
            // The checksum is that of the source's record, and no word of the client's.
            Error::ChecksumMismatch { .. } => Error::Damaged,
            other => other,
        })?;
        let empty = Bytes::new();
        let call = request.call(&empty, Some(&copy.admission.bucket), &self.0.settings);
        Ok(copy.reply(&call, &object, copy.admission.reply(&request.fields, &object)?))
    }

    /// Takes the body of an admitted PUT, decides again and commits.
    async fn store<B>(
        &self,
        request: &ParsedRequest<'_>,
        admission: &Admission,
        verified: &Verified,
        body: &mut B,
        mut ids: SharedIds,
    ) -> Result<ObjectVersion, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let bodies = &self.0.bodies;
        let (bucket, name) = (&admission.bucket.name, admission.key.as_str());
        let object_key = bodies.keys.new_key(&admission.encryption, bucket, name, &mut ids).await?;
        let context = admission.encryption_context();
        let headers = &admission.headers.body;
        let verifier = Verifier::new(request.fields.dialect(), headers, verified);
        let intake = Intake { headers, verifier, key: &object_key.key, context: &context };
        let stored = upload::receive(bodies, body, intake, &mut ids, request.now).await?;
        let part = stored.part(0);
        request.age();
        let now = self.0.clock.now();
        let committed = run(&*request.store, &mut ids, ATTEMPTS_MAX, |tx, _| {
            let new = NewVersion {
                bucket: &admission.bucket,
                key: &admission.key,
                owner: &admission.owner,
                random: admission.random,
                precondition: &admission.headers.precondition,
                snapshot: &admission.snapshot,
                now,
            };
            if admission.headers.offset.is_some() {
                append::check_absent(tx, admission.bucket.id, &admission.key)?;
            }
            let parts = Parts::One(part.clone());
            commit(tx, &new, admission.object_data(&stored.digested, parts, &object_key))
        })
        .await;
        stored.delete_unnamed(bodies, &committed).await;
        committed
    }
}
