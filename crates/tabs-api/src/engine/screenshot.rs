//! The picture of a simulated page: the same page gives the same picture, and two pages differ.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The longest side of a picture, in pixels.
const SIDE_MAX: i64 = 4_096;
/// The number of bands across a picture.
const BANDS: usize = 8;

/// Draws a page as a data URL.
///
/// # Errors
/// A sentence, if the picture cannot be encoded.
pub fn draw(
    url: &str,
    title: &str,
    width: i64,
    height: i64,
    is_png: bool,
    quality: u8,
) -> Result<String, String> {
    let side = |length: i64| u16::try_from(length.clamp(1, SIDE_MAX)).unwrap_or(1);
    let (width, height) = (side(width), side(height));
    let pixels = paint(url, title, usize::from(width), usize::from(height));
    let (kind, bytes) = if is_png {
        ("png", png(&pixels, width, height)?)
    } else {
        ("jpeg", jpeg(&pixels, width, height, quality)?)
    };
    Ok(format!("data:image/{kind};base64,{}", STANDARD.encode(bytes)))
}

/// Bands whose colours come from the URL, over a strip whose colour comes from the title.
fn paint(url: &str, title: &str, width: usize, height: usize) -> Vec<u8> {
    let colours: [u8; 32] = Sha256::digest(url).into();
    let strip: [u8; 32] = Sha256::digest(title).into();
    let colour = |from: &[u8; 32], index: usize| {
        [0, 1, 2].map(|channel| from.get(index * 3 + channel).copied().unwrap_or(0))
    };
    let mut row = Vec::with_capacity(width * 3);
    for column in 0..width {
        row.extend(colour(&colours, column * BANDS / width));
    }
    let top: Vec<u8> = colour(&strip, 0).repeat(width);
    let mut pixels = Vec::with_capacity(width * height * 3);
    for line in 0..height {
        pixels.extend_from_slice(if line < height / 16 { &top } else { &row });
    }
    pixels
}

fn png(pixels: &[u8], width: u16, height: u16) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width.into(), height.into());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer.write_image_data(pixels).map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())?;
    Ok(out)
}

fn jpeg(pixels: &[u8], width: u16, height: u16, quality: u8) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut out, quality.clamp(1, 100));
    encoder
        .encode(pixels, width, height, jpeg_encoder::ColorType::Rgb)
        .map_err(|error| error.to_string())?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_page_gives_the_same_picture_and_another_page_another() {
        let one = draw("http://a/", "A", 64, 48, true, 92).unwrap();
        assert_eq!(draw("http://a/", "A", 64, 48, true, 92).unwrap(), one);
        assert_ne!(draw("http://b/", "A", 64, 48, true, 92).unwrap(), one);
        assert!(one.starts_with("data:image/png;base64,iVBOR"));
        assert!(
            draw("http://a/", "A", 64, 48, false, 50)
                .unwrap()
                .starts_with("data:image/jpeg;base64,/9j/")
        );
    }

    #[test]
    fn no_size_and_no_quality_is_a_panic() {
        for (width, height, quality) in [(0, 0, 0), (-5, 7, 255), (100_000, 1, 100)] {
            assert!(draw("", "", width, height, false, quality).is_ok());
        }
    }
}
