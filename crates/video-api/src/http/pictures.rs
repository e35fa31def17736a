//! Pictures at the addresses that resources name.

use http::header;
use triptych_core::host::ReplyBody;
use triptych_core::kv::Tx;

use super::{ApiRequest, VideoApi};
use crate::api::error::Error;
use crate::http::request::ALLOW_READS;
use crate::http::response::{ApiResponse, Body};
use crate::picture::{self, Size};

/// Names that clients make addresses with by themselves, because the real service has them, and the sizes that they mean.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("0", "high"),
    ("mqdefault", "medium"),
    ("hqdefault", "high"),
    ("sddefault", "standard"),
    ("maxresdefault", "maxres"),
];

/// Tells whether a path is one of a picture.
pub(super) fn is_picture(path: &str) -> bool {
    ["/vi/", "/ytc/", "/banner/", "/watermark/"].iter().any(|start| path.starts_with(start))
}

/// Subject of a path (`vi/ID`), and the size.
fn subject(path: &str) -> Option<(String, Size)> {
    let mut pieces = path.trim_start_matches('/').split('/');
    let (folder, id) = (pieces.next()?, pieces.next()?);
    let named = |sizes: &[Size], name: Option<&str>| {
        let name = name?.strip_suffix(".jpg")?;
        let known = OTHER_NAMES.iter().find(|(other, _)| *other == name);
        let name = known.map_or(name, |(_, name)| *name);
        sizes.iter().copied().find(|size| size.name == name)
    };
    let size = match folder {
        "vi" => named(picture::VIDEO, pieces.next())?,
        "ytc" => named(picture::CHANNEL, pieces.next())?,
        "banner" => *picture::BANNER.first()?,
        "watermark" => *picture::WATERMARK.first()?,
        _ => return None,
    };
    Some((format!("{folder}/{id}"), size))
}

impl VideoApi {
    /// The picture, or the default one of its size where none was set.
    pub(super) async fn picture(&self, request: &ApiRequest) -> ApiResponse {
        let response = async {
            if request.method != "GET" {
                return Err(request.not_allowed(ALLOW_READS));
            }
            let (subject, size) = subject(&request.path).ok_or(Error::UnknownPath)?;
            let found = picture::find(&mut Tx::new(&*self.0.store), &subject, size.name)?;
            let blobs = self.0.blobs.clone();
            match found {
                Some(piece) => {
                    let bytes = self.run_blocking_bounded(move || {
                        blobs.read_small(piece.blob, piece.bytes).map_err(|error| {
                            Error::Backend(triptych_core::kv::StoreError::Unavailable(
                                error.to_string(),
                            ))
                        })
                    });
                    bytes.await
                }
                None if subject.starts_with("vi/") || subject.starts_with("ytc/") => {
                    self.run_blocking_bounded(move || Ok(picture::placeholder(size).into())).await
                }
                None => Err(Error::UnknownPath),
            }
        };
        match response.await {
            Ok(bytes) => ApiResponse {
                status: 200,
                headers: vec![
                    (header::CONTENT_TYPE, "image/jpeg".into()),
                    (header::CACHE_CONTROL, "public, max-age=60".into()),
                ],
                body: Body::Raw(ReplyBody::whole(bytes)),
                operation: "picture",
            },
            Err(error) => request.refuse(&error, "picture"),
        }
    }
}
