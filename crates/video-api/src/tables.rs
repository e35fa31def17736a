//! Every table of this service, by the first byte of its keys. Each is named once, here.

/// Open and finished upload sessions by their id.
pub const UPLOAD_SESSIONS: u8 = 0x80;
/// Metadata and final answers of upload sessions, in slices.
pub const UPLOAD_TEXTS: u8 = 0x81;
/// Upload sessions by the time they were opened, for expiry.
pub const UPLOAD_AGES: u8 = 0x82;
/// Pieces of uploaded bodies.
pub const MEDIA_PIECES: u8 = 0x83;
/// Uploaded bodies that no record names any more.
pub const MEDIA_GARBAGE: u8 = 0x84;
/// Rendered pictures.
pub const PICTURES: u8 = 0x85;
/// Blobs of pictures that were replaced.
pub const PICTURE_GARBAGE: u8 = 0x86;
