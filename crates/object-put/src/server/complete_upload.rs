//! Completions: a look that refuses, the chunks of a long list, and a commit that names them.

use bytes::Bytes;
use triptych_core::id::Ids as _;
use triptych_core::kv::run;

use crate::error::Error;
use crate::operation::Reply;
use crate::operation::multipart::complete::{Completion, Decision};
use crate::operation::multipart::part_document::PartDocument;
use crate::server::request::ParsedRequest;
use crate::server::state::{ATTEMPTS_MAX, ObjectPut};

/// Looks at an upload whose parts are uploaded again while it is completed.
const LOOKS_MAX: u32 = 16;

impl ObjectPut {
    /// CompleteMultipartUpload, with the parts that `document` names.
    pub(super) async fn complete_upload(
        &self,
        request: &ParsedRequest<'_>,
        document: &Bytes,
    ) -> Result<Reply, Error> {
        let list = PartDocument::parse(document);
        let mut ids = self.ids();
        let store = &*request.store;
        for _ in 0..LOOKS_MAX {
            let (decision, bucket) = run(store, &mut ids, ATTEMPTS_MAX, |tx, _| {
                let bucket = self.authorize(request, tx)?;
                let call = request.call(document, bucket.as_deref(), &self.0.settings);
                Ok::<_, Error>((Completion::decide(&call, &list, tx)?, bucket))
            })
            .await?;
            let completion = match decision {
                Decision::Answered(reply) => return Ok(reply),
                Decision::Complete(completion) => completion,
            };
            let number = ids.next();
            let tag = completion.new_tag(&mut ids);
            let now = self.0.clock.now();
            for batch in 0..completion.drafts() {
                run(store, &mut ids, ATTEMPTS_MAX, |tx, _| {
                    completion.draft(tx, number, batch, now)
                })
                .await?;
            }
            let call = request.call(document, bucket.as_deref(), &self.0.settings);
            let committed = run(store, &mut ids, ATTEMPTS_MAX, |tx, _| {
                completion.commit(&call, tx, number, tag, now)
            })
            .await;
            match committed {
                Ok(Some(reply)) => return Ok(reply),
                Ok(None) => {}
                // Another completion was first: with the same list its answer is this one's too.
                Err(Error::NoSuchUpload { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(triptych_core::kv::StoreError::Conflict.into())
    }
}
