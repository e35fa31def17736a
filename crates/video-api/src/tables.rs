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
/// What can be found, by kind and id.
pub const SEARCH_DOCUMENTS: u8 = 0x88;
/// What the search index has to follow.
pub const SEARCH_CHANGED: u8 = 0x89;
/// Documents of a word, in blocks.
pub const SEARCH_POSTINGS: u8 = 0x8A;
/// Documents of the search index, by number.
pub const SEARCH_ENTRIES: u8 = 0x8B;
/// Numbers of the search index, by kind and id.
pub const SEARCH_NUMBERS: u8 = 0x8C;
/// Public documents in order of date and of views.
pub const SEARCH_ORDERED: u8 = 0x8D;
/// What is known of all documents together.
pub const SEARCH_TOTALS: u8 = 0x8E;
