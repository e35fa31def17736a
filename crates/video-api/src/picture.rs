//! Pictures that users upload: decoded within limits, resized with black bars where the shape differs, kept as JPEG in every size that a
//! resource names.

use std::io::Cursor;

use image::imageops::FilterType;
use image::{
    DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, Rgb, RgbImage, imageops,
};
use triptych_core::blobs::{BlobId, Blobs};
use triptych_core::error::{Coded, Row};
use triptych_core::id::Ids;
use triptych_core::kv;
use triptych_core::kv::{KeyValue, StoreError, Table, Tx};

use crate::record::table_entry::{Form, TableEntry};
use crate::upload::media::{MediaError, Piece, delete_all};

/// Tables as an export names them.
pub static TABLES: &[TableEntry] = &[
    TableEntry::new("pictures", &PICTURES, Form::Body),
    TableEntry::new("pictureGarbage", &GARBAGE, Form::Bytes),
];

/// A size that a resource names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Its name in `snippet.thumbnails`, and in the URL.
    pub name: &'static str,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
}

const fn size(name: &'static str, width: u32, height: u32) -> Size {
    Size { name, width, height }
}

/// The sizes of a video's picture, a playlist's and a playlist item's (spec video-api §2 fact 3; default 120 by 90).
pub const VIDEO: &[Size] = &[
    size("default", 120, 90),
    size("medium", 320, 180),
    size("high", 480, 360),
    size("standard", 640, 480),
    size("maxres", 1280, 720),
];
/// The sizes of a channel's picture (spec video-api §2 fact 3; default 88 by 88).
pub const CHANNEL: &[Size] =
    &[size("default", 88, 88), size("medium", 240, 240), size("high", 800, 800)];
/// The one size of a channel's banner.
pub const BANNER: &[Size] = &[size("banner", 2560, 1440)];
/// The one size of a watermark.
pub const WATERMARK: &[Size] = &[size("watermark", 150, 150)];

/// A side is never longer than this.
const SIDE_MAX: u32 = 16_384;
/// A picture never has more pixels than this: decoded it takes four bytes each.
const PIXELS_MAX: u64 = 40_000_000;
/// The most bytes that decoding may allocate.
const ALLOCATION_BYTES_MAX: u64 = 256 * 1024 * 1024;
const JPEG_QUALITY: u8 = 85;

/// A refusal of a picture. In the order of the checks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// No bytes.
    #[error("the request has no picture")]
    Empty,
    /// Not JPEG, PNG, GIF, BMP or WebP.
    #[error("the picture is not JPEG, PNG, GIF, BMP or WebP")]
    Format,
    /// Wider than can be taken.
    #[error("the picture is {width} pixels wide, and {SIDE_MAX} are the most")]
    TooWide {
        /// Its width.
        width: u32,
    },
    /// Taller than can be taken.
    #[error("the picture is {height} pixels tall, and {SIDE_MAX} are the most")]
    TooTall {
        /// Its height.
        height: u32,
    },
    /// More pixels than can be taken.
    #[error("the picture has {pixels} pixels, and {PIXELS_MAX} are the most")]
    TooManyPixels {
        /// Its number of pixels.
        pixels: u64,
    },
    /// It says that it is a picture and cannot be decoded.
    #[error("the picture is damaged or cut off")]
    Damaged,
    /// A banner that is smaller than `least`.
    #[error(
        "the picture is {width} by {height} pixels, and {least_width} by {least_height} are the least"
    )]
    TooSmall {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
        /// The least width.
        least_width: u32,
        /// The least height.
        least_height: u32,
    },
}

impl Coded for PictureError {
    fn row(&self) -> Row {
        match self {
            Self::Empty => Row::of(400, "mediaBodyRequired"),
            Self::Format => Row::of(400, "imageFormatUnsupported"),
            Self::TooWide { .. } => Row::of(400, "imageTooWide"),
            Self::TooTall { .. } => Row::of(400, "imageTooTall"),
            Self::TooManyPixels { .. } | Self::Damaged | Self::TooSmall { .. } => {
                Row::of(400, "invalidImage")
            }
        }
    }
}

/// A decoded picture. Of an animation it is the first frame.
#[derive(Debug, Clone)]
pub struct Picture(RgbImage);

impl Picture {
    /// Decodes `bytes`, turned as its camera says. Its dimensions are checked before a pixel is decoded.
    ///
    /// # Errors
    /// `Empty`, `Format`, `TooWide`, `TooTall`, `TooManyPixels`, `Damaged`.
    pub fn decode(bytes: &[u8]) -> Result<Self, PictureError> {
        if bytes.is_empty() {
            return Err(PictureError::Empty);
        }
        const FORMATS: [ImageFormat; 5] = [
            ImageFormat::Jpeg,
            ImageFormat::Png,
            ImageFormat::Gif,
            ImageFormat::Bmp,
            ImageFormat::WebP,
        ];
        let format = image::guess_format(bytes).ok().filter(|format| FORMATS.contains(format));
        let format = format.ok_or(PictureError::Format)?;
        let damaged = |_| PictureError::Damaged;
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        // Enough to read the head and no more; the limits for the pixels follow once they are known.
        let mut limits = Limits::default();
        limits.max_alloc = Some(ALLOCATION_BYTES_MAX);
        reader.limits(limits.clone());
        let mut decoder = reader.into_decoder().map_err(damaged)?;
        let (width, height) = decoder.dimensions();
        if width > SIDE_MAX {
            return Err(PictureError::TooWide { width });
        }
        if height > SIDE_MAX {
            return Err(PictureError::TooTall { height });
        }
        let pixels = u64::from(width) * u64::from(height);
        if pixels > PIXELS_MAX {
            return Err(PictureError::TooManyPixels { pixels });
        }
        if pixels == 0 {
            return Err(PictureError::Damaged);
        }
        decoder.set_limits(limits).map_err(damaged)?;
        let orientation = decoder.orientation();
        let mut image = DynamicImage::from_decoder(decoder).map_err(damaged)?;
        if let Ok(orientation) = orientation {
            image.apply_orientation(orientation);
        }
        Ok(Self(flattened(&image)))
    }

    /// Width and height in pixels.
    #[must_use]
    pub fn dimensions(&self) -> (u32, u32) {
        self.0.dimensions()
    }

    /// The same picture, if it is at least so large.
    ///
    /// # Errors
    /// `TooSmall`.
    pub fn at_least(self, least_width: u32, least_height: u32) -> Result<Self, PictureError> {
        let (width, height) = self.dimensions();
        if width < least_width || height < least_height {
            return Err(PictureError::TooSmall { width, height, least_width, least_height });
        }
        Ok(self)
    }

    /// This picture as JPEG in each of `sizes`: whole, in its own shape, centred, with black bars where the shape differs (spec video-api §2 fact 4).
    #[must_use]
    pub fn render(self, sizes: &[Size]) -> Vec<(Size, Vec<u8>)> {
        let widest = sizes.iter().map(|size| size.width.max(size.height)).max().unwrap_or(1);
        // One pass over the large original; the sizes are made from what is left of it.
        let source = match fitted(self.0.dimensions(), (widest, widest)) {
            (width, height) if width < self.0.width() => {
                imageops::resize(&self.0, width, height, FilterType::Triangle)
            }
            _ => self.0,
        };
        sizes.iter().map(|size| (*size, jpeg(&boxed(&source, *size)))).collect()
    }
}

/// The picture of a video that has none: a triangle on grey.
#[must_use]
pub fn placeholder(size: Size) -> Vec<u8> {
    let (width, height) = (i64::from(size.width), i64::from(size.height));
    let half = height / 6;
    let image = RgbImage::from_fn(size.width, size.height, |x, y| {
        let (x, y) = (i64::from(x) - (width / 2 - half), (i64::from(y) - height / 2).abs());
        let within = x >= 0 && y <= half && x <= 2 * (half - y);
        if within { Rgb([230, 230, 230]) } else { Rgb([72, 72, 72]) }
    });
    jpeg(&image)
}

/// Without transparency: what shows through is black.
fn flattened(image: &DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.to_rgb8();
    }
    let image = image.to_rgba8();
    RgbImage::from_fn(image.width(), image.height(), |x, y| {
        let [red, green, blue, alpha] = image.get_pixel(x, y).0;
        let seen = |channel: u8| {
            u8::try_from(u16::from(channel) * u16::from(alpha) / 255).unwrap_or(channel)
        };
        Rgb([seen(red), seen(green), seen(blue)])
    })
}

/// The largest dimensions of the shape `of` that lie within `bounds`; never zero.
fn fitted(of: (u32, u32), bounds: (u32, u32)) -> (u32, u32) {
    let (width, height) = (u64::from(of.0.max(1)), u64::from(of.1.max(1)));
    let (most_wide, most_tall) = (u64::from(bounds.0), u64::from(bounds.1));
    let fit = if width * most_tall >= height * most_wide {
        (most_wide, (height * most_wide + width / 2) / width)
    } else {
        ((width * most_tall + height / 2) / height, most_tall)
    };
    let narrow = |side: u64| u32::try_from(side).unwrap_or(u32::MAX).max(1);
    (narrow(fit.0), narrow(fit.1))
}

fn boxed(source: &RgbImage, size: Size) -> RgbImage {
    let (width, height) = fitted(source.dimensions(), (size.width, size.height));
    let scaled = imageops::resize(source, width, height, FilterType::Triangle);
    let mut canvas = RgbImage::new(size.width, size.height);
    let margin = |whole: u32, part: u32| i64::from(whole.saturating_sub(part) / 2);
    imageops::replace(&mut canvas, &scaled, margin(size.width, width), margin(size.height, height));
    canvas
}

fn jpeg(image: &RgbImage) -> Vec<u8> {
    let mut out = Vec::new();
    let written = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut out, JPEG_QUALITY)
        .encode_image(image);
    debug_assert!(written.is_ok(), "a picture within the limits can be written to memory");
    out
}

/// Rendered pictures by what they show (the path of their URL: `vi/ID`) and the name of their size.
pub const PICTURES: Table<(String, String), Piece> = Table::new(0x85);
/// Blobs of pictures that were replaced.
pub const GARBAGE: Table<[u8; 32], ()> = Table::new(0x86);
/// No resource has more sizes than this.
const SIZES_MAX: usize = 16;

/// Gives `subject` these pictures in the place of any that it had.
///
/// # Errors
/// As [`Tx::get`].
pub fn set(tx: &mut Tx<'_>, subject: &str, pictures: &[(Size, Piece)]) -> Result<(), StoreError> {
    unset(tx, subject)?;
    for (size, piece) in pictures {
        PICTURES.put(tx, &(subject.to_owned(), size.name.to_owned()), piece);
    }
    Ok(())
}

/// Takes its pictures from `subject`; says whether it had any.
///
/// # Errors
/// As [`Tx::get`].
pub fn unset(tx: &mut Tx<'_>, subject: &str) -> Result<bool, StoreError> {
    let rows = PICTURES.all(tx, &subject.to_owned(), SIZES_MAX)?;
    for (key, piece) in &rows {
        // The commit depends on each: two that replace the same picture must not both free it.
        PICTURES.get(tx, key)?;
        PICTURES.delete(tx, key);
        GARBAGE.put(tx, &piece.blob.0, &());
    }
    Ok(!rows.is_empty())
}

/// Piece that holds the picture of `subject` in the size `name`.
///
/// # Errors
/// As [`Tx::peek`].
pub fn find(tx: &mut Tx<'_>, subject: &str, name: &str) -> Result<Option<Piece>, StoreError> {
    PICTURES.peek(tx, &(subject.to_owned(), name.to_owned()))
}

/// Blobs that one step of [`sweep`] frees.
const SWEEP_STEP: usize = 200;

/// Frees the space of pictures that were replaced, and says how many. Blocks; call it on a thread of its own.
///
/// # Errors
/// `Store`, `Blob`.
pub fn sweep(
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    ids: &mut dyn Ids,
    goes_on: &dyn Fn() -> bool,
) -> Result<usize, MediaError> {
    let mut freed = 0;
    loop {
        let mut read = Tx::new(store);
        let (rows, more) = GARBAGE.scan(&mut read, &GARBAGE.span(&()), SWEEP_STEP)?;
        kv::settle(store, &read)?;
        delete_all(blobs, rows.iter().map(|(blob, ())| BlobId(*blob)))?;
        freed += rows.len();
        kv::run_blocking(store, ids, 8, |tx, _| {
            for (blob, ()) in &rows {
                GARBAGE.delete(tx, blob);
            }
            Ok::<_, StoreError>(())
        })?;
        if !more || !goes_on() {
            return Ok(freed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use triptych_core::blobs::MemoryBlobs;
    use triptych_core::id::SeededIds;
    use triptych_core::time::Timestamp;

    #[test]
    fn no_picture_goes_for_a_row_that_is_not_on_disk() {
        let blobs = MemoryBlobs::new(SeededIds::from_number(1));
        let stalled = kv::Stalled::default();
        let replaced = blobs.put_small(Timestamp::EPOCH, "picture".into()).wait().unwrap();
        kv::run_blocking(&stalled.0, &mut SeededIds::from_number(2), 1, |tx, _| {
            GARBAGE.put(tx, &replaced.id.0, &());
            Ok::<_, StoreError>(())
        })
        .unwrap();
        let swept =
            |store: &dyn KeyValue| sweep(store, &blobs, &mut SeededIds::from_number(3), &|| true);
        assert!(swept(&stalled).is_err());
        assert_eq!(blobs.list(None, 9).unwrap(), [replaced]);
        assert_eq!(swept(&stalled.0).unwrap(), 1);
        assert_eq!(blobs.list(None, 9).unwrap(), []);
    }

    fn png(width: u32, height: u32, colour: [u8; 3]) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        RgbImage::from_pixel(width, height, Rgb(colour))
            .write_to(&mut out, ImageFormat::Png)
            .unwrap();
        out.into_inner()
    }

    fn rendered(bytes: &[u8], size: Size) -> RgbImage {
        let pictures = Picture::decode(bytes).unwrap().render(&[size]);
        image::load_from_memory(&pictures[0].1).unwrap().to_rgb8()
    }

    fn is_near(image: &RgbImage, x: u32, y: u32, colour: [u8; 3]) -> bool {
        image.get_pixel(x, y).0.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 12)
    }

    #[test]
    fn a_picture_of_another_shape_gets_black_bars_and_is_not_cropped() {
        let (red, black) = ([200, 30, 30], [0, 0, 0]);
        let wide = rendered(&png(1600, 900, red), size("default", 120, 90));
        assert_eq!(wide.dimensions(), (120, 90));
        assert!(
            is_near(&wide, 60, 45, red)
                && is_near(&wide, 1, 45, red)
                && is_near(&wide, 60, 2, black)
                && is_near(&wide, 60, 88, black)
        );
        let tall = rendered(&png(90, 160, red), size("medium", 320, 180));
        assert!(
            is_near(&tall, 160, 90, red)
                && is_near(&tall, 160, 2, red)
                && is_near(&tall, 2, 90, black)
                && is_near(&tall, 318, 90, black)
        );
        let same = rendered(&png(16, 9, red), size("maxres", 1280, 720));
        assert!(is_near(&same, 2, 2, red) && is_near(&same, 1278, 718, red));
    }

    #[test]
    fn every_size_of_a_resource_is_made() {
        let pictures = Picture::decode(&png(640, 480, [9, 9, 9])).unwrap().render(VIDEO);
        for (size, bytes) in pictures {
            let (width, height) = ImageReader::with_format(Cursor::new(bytes), ImageFormat::Jpeg)
                .into_dimensions()
                .unwrap();
            assert_eq!((width, height), (size.width, size.height), "{}", size.name);
        }
        assert_eq!(image::load_from_memory(&placeholder(VIDEO[0])).unwrap().width(), 120);
    }

    /// A PNG whose head says that it is large, and that has no pixels.
    fn bomb(width: u32, height: u32) -> Vec<u8> {
        let mut file = png(1, 1, [0; 3]);
        file[16..20].copy_from_slice(&width.to_be_bytes());
        file[20..24].copy_from_slice(&height.to_be_bytes());
        let checksum = crc(&file[12..29]);
        file[29..33].copy_from_slice(&checksum.to_be_bytes());
        file
    }

    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0_u32, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 }
            })
        })
    }

    #[test]
    fn a_bomb_is_refused_by_its_head() {
        let refusal = |bytes: &[u8]| Picture::decode(bytes).unwrap_err();
        assert_eq!(refusal(&bomb(60_000, 10)), PictureError::TooWide { width: 60_000 });
        assert_eq!(refusal(&bomb(10, 60_000)), PictureError::TooTall { height: 60_000 });
        assert_eq!(
            refusal(&bomb(16_000, 16_000)),
            PictureError::TooManyPixels { pixels: 256_000_000 }
        );
        assert_eq!(refusal(&bomb(5_000, 5_000)), PictureError::Damaged);
    }

    #[test]
    fn what_is_no_picture_is_refused_with_its_reason() {
        let refusal = |bytes: &[u8]| Picture::decode(bytes).unwrap_err();
        assert_eq!(refusal(b""), PictureError::Empty);
        assert_eq!(refusal(b"plain text"), PictureError::Format);
        assert_eq!(refusal(b"\x89PNG\r\n\x1a\n"), PictureError::Damaged);
        let whole = png(64, 64, [1, 2, 3]);
        assert_eq!(refusal(&whole[..whole.len() / 2]), PictureError::Damaged);
        assert!(matches!(
            Picture::decode(&whole).unwrap().at_least(65, 1),
            Err(PictureError::TooSmall { .. })
        ));
        assert_eq!(PictureError::TooTall { height: 1 }.row(), Row::of(400, "imageTooTall"));
    }

    #[test]
    fn a_replaced_picture_is_gone_and_its_blob_is_freed() {
        let (store, blobs) = (kv::Memory::new(), MemoryBlobs::new(SeededIds::from_number(1)));
        let mut ids = SeededIds::from_number(2);
        let piece = |bytes: &'static [u8]| {
            let mut writer = blobs.create(Timestamp::EPOCH, None);
            writer.write(bytes.into()).wait().unwrap();
            let stat = writer.finish().wait().unwrap();
            Piece { blob: stat.id, bytes: stat.bytes }
        };
        for (bytes, freed) in [(b"old".as_slice(), 0), (b"newer", 1)] {
            let piece = piece(bytes);
            kv::run_blocking(&store, &mut ids, 1, |tx, _| set(tx, "vi/a", &[(VIDEO[0], piece)]))
                .unwrap();
            assert_eq!(find(&mut Tx::new(&store), "vi/a", "default").unwrap(), Some(piece));
            assert_eq!(sweep(&store, &blobs, &mut ids, &|| true).unwrap(), freed);
        }
        assert_eq!(blobs.list(None, 9).unwrap().len(), 1);
        assert_eq!(kv::run_blocking(&store, &mut ids, 1, |tx, _| unset(tx, "vi/a")), Ok(true));
        assert_eq!(kv::run_blocking(&store, &mut ids, 1, |tx, _| unset(tx, "vi/a")), Ok(false));
        assert_eq!(find(&mut Tx::new(&store), "vi/a", "default").unwrap(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_bytes_are_decoded_or_refused(noise in proptest::collection::vec(any::<u8>(), 1..40), at in 0_usize..120, kind in 0_usize..4) {
            let starts: [&[u8]; 4] = [&png(20, 20, [1, 2, 3]), b"\xFF\xD8\xFF\xE0\0\x10JFIF\0", b"GIF89a\x10\0\x10\0\x80\0\0", b"RIFF\x20\0\0\0WEBPVP8 "];
            let mut file = starts[kind].to_vec();
            let at = at.min(file.len());
            file.splice(at..(at + noise.len()).min(file.len()), noise.iter().copied());
            let _ = Picture::decode(&file);
        }

        #[test]
        fn a_fitted_size_lies_within_and_touches_its_bounds(width in 1_u32..20_000, height in 1_u32..20_000) {
            let fit = fitted((width, height), (120, 90));
            prop_assert!(fit.0 <= 120 && fit.1 <= 90 && (fit.0 == 120 || fit.1 == 90));
        }
    }
}
