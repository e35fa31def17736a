//! Uploads and their parts: a look that refuses, the body as it streams by, and a commit that looks again.

use bytes::Bytes;
use triptych_core::host::{BoxError, PieceBody};
use triptych_core::id::{Ids, SharedIds};
use triptych_core::kv::{Tx, run};

use crate::auth::signature::Verified;
use crate::body::checksum::Digested;
use crate::body::verifier::Verifier;
use crate::error::Error;
use crate::operation::multipart::copy_part::PartCopyAdmission;
use crate::operation::multipart::create::UploadAdmission;
use crate::operation::multipart::put_part::PartAdmission;
use crate::operation::{Call, Reply};
use crate::server::download::Download;
use crate::server::read_ahead::ObjectBytes;
use crate::server::request::ParsedRequest;
use crate::server::state::{ATTEMPTS_MAX, ObjectPut};
use crate::server::upload::{self, Intake};
use crate::store::open_upload;
use crate::store::upload::UploadPart;

impl ObjectPut {
    /// CreateMultipartUpload: look and refuse, ask for the key, begin.
    pub(super) async fn begin_upload(&self, request: &ParsedRequest<'_>) -> Result<Reply, Error> {
        let mut ids = self.ids();
        let empty = Bytes::new();
        let (admission, bucket) = run(&*request.store, &mut ids, ATTEMPTS_MAX, |tx, _| {
            let bucket = self.authorize(request, tx)?;
            let call = request.call(&empty, bucket.as_deref(), &self.0.settings);
            Ok::<_, Error>((UploadAdmission::decide(&call, tx)?, bucket))
        })
        .await?;
        let (name, key) = (&admission.bucket.name, admission.key.as_str());
        let keys = &self.0.bodies.keys;
        let object_key = keys.new_key(&admission.encryption, name, key, &mut ids).await?;
        let call = request.call(&empty, bucket.as_deref(), &self.0.settings);
        run(&*request.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
            admission.commit(&call, &object_key.encryption, tx, ids)
        })
        .await
    }

    /// UploadPart.
    pub(super) async fn put_part<B>(
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
            PartAdmission::decide(call, request.verified.payload, tx, ids)
        };
        let admission = self.admit(request, &mut ids, decide).await?;
        let (digested, part) =
            self.store_part(request, &admission, &request.verified, body, ids).await?;
        admission.reply(&request.fields, &digested, &part)
    }

    /// UploadPartCopy: a part whose body is another object's.
    pub(super) async fn copy_part<B>(
        &self,
        request: &ParsedRequest<'_>,
        body: &mut B,
    ) -> Result<Reply, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let mut ids = self.ids();
        let copy = self.admit(request, &mut ids, PartCopyAdmission::decide).await?;
        upload::refuse(body).await?;
        let source_key = self.0.bodies.keys.open(&copy.bytes.key).await?;
        let bytes = ObjectBytes::new(copy.bytes.clone());
        let mut source = Download::new(self.0.bodies.clone(), bytes, source_key);
        source.keep_open();
        let mut body = PieceBody::new(source);
        let admission = &copy.admission;
        let unsigned = Verified::unsigned(admission.body.payload);
        let (digested, part) =
            self.store_part(request, admission, &unsigned, &mut body, ids).await?;
        copy.reply(&request.fields, &digested, &part)
    }

    /// Takes the body of an admitted part, looks again and commits.
    async fn store_part<B>(
        &self,
        request: &ParsedRequest<'_>,
        admission: &PartAdmission,
        verified: &Verified,
        body: &mut B,
        mut ids: SharedIds,
    ) -> Result<(Digested, UploadPart), Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let bodies = &self.0.bodies;
        let body_key = bodies.keys.open(&admission.opening).await?;
        let context = admission.context();
        let headers = &admission.body;
        let mut verifier = Verifier::new(request.fields.dialect(), headers, verified);
        if let Some(second) = admission.second {
            verifier = verifier.with_second(second);
        }
        let intake = Intake { headers, verifier, key: &body_key, context: &context };
        let stored = upload::receive(bodies, body, intake, &mut ids, request.now).await?;
        request.age();
        let now = self.0.clock.now();
        let part = admission.part(&stored.digested, &body_key, stored.part(admission.number), now);
        let committed = run(&*request.store, &mut ids, ATTEMPTS_MAX, |tx, _| {
            open_upload::put_part(tx, &admission.bucket, &admission.key, &admission.upload, &part)
        })
        .await;
        stored.delete_unnamed(bodies, &committed).await;
        committed.map(|()| (stored.digested, part))
    }
}
