//! Pictures at the addresses that resources name.

use http::header;
use subtle::ConstantTimeEq as _;
use triptych_core::host::ReplyBody;
use triptych_core::kv::Tx;

use super::{ApiRequest, VideoApi};
use crate::api::error::Error;
use crate::http::request::ALLOW_READS;
use crate::http::response::{ApiResponse, Body};
use crate::picture::{self, Size};
use crate::record::closing;
use crate::record::thumbnail;
use crate::resource::channels::record::CHANNELS;
use crate::resource::videos::record::VIDEOS;

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
    // What follows the name of a picture names none.
    pieces.next().is_none().then(|| (format!("{folder}/{id}"), size))
}

/// Returns whether a key that was sent is the one that is needed, in a time that tells nothing of it.
fn is_same(needed: &str, sent: &str) -> bool {
    needed.as_bytes().ct_eq(sent.as_bytes()).into()
}

/// Returns whether a resource names the picture of `subject` in this size, with this key where it needs one. A playlist without videos shows
/// the placeholder of none, and so does a comment whose author's account was closed.
fn is_listed(tx: &mut Tx<'_>, subject: &str, size: Size, key: Option<&str>) -> Result<bool, Error> {
    Ok(match subject.split_once('/') {
        Some(("vi", thumbnail::NONE)) => thumbnail::Source::default().has(size.name),
        Some(("vi", id)) => {
            let closing = closing::peek(tx)?;
            let video = VIDEOS.peek_shared(tx, &id.to_owned())?;
            video.is_some_and(|video| {
                let source = video.head.picture_source();
                source.has(size.name)
                    && source.key.is_none_or(|needed| is_same(needed, key.unwrap_or_default()))
                    && !closing.holds(&video.head.channel)
            })
        }
        Some(("ytc", thumbnail::NONE)) => true,
        Some(("ytc", id)) => CHANNELS.peek_shared(tx, &id.to_owned())?.is_some(),
        _ => true,
    })
}

impl VideoApi {
    /// The picture, or the default one of its size where none was set.
    pub(super) async fn picture(&self, request: &ApiRequest) -> ApiResponse {
        let response = async {
            if request.method != "GET" {
                return Err(request.not_allowed(ALLOW_READS));
            }
            let (subject, size) = subject(&request.path).ok_or(Error::UnknownPath)?;
            let mut tx = Tx::new(&*self.0.store);
            if !is_listed(&mut tx, &subject, size, request.value(thumbnail::KEY))? {
                return Err(Error::UnknownPath);
            }
            let found = picture::find(&mut tx, &subject, size.name)?;
            drop(tx);
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
