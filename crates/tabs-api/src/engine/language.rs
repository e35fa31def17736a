//! The language of a page: the declared one, else the one that its text is written in.

use whatlang::{Lang, detect};

/// The longest text that is looked at, in bytes.
const TEXT_BYTES: usize = 8 * 1024;
/// Signs that only one of the two ways of writing Chinese has.
const SIMPLIFIED: &str = "这个们说来国时会对发学过还后没开关现点头为东车门问间书长两样";
const TRADITIONAL: &str = "這個們說來國時會對發學過還後沒開關現點頭為東車門問間書長兩樣";

/// The code of a declared language, as `detectLanguage` gives it: without a region, except for Chinese.
#[must_use]
pub fn declared(tag: &str) -> Option<String> {
    let lower = tag.trim().to_ascii_lowercase().replace('_', "-");
    let mut parts = lower.split('-');
    let language = parts.next().filter(|language| {
        (2..=3).contains(&language.len()) && language.bytes().all(|sign| sign.is_ascii_lowercase())
    })?;
    if language != "zh" {
        return Some(language.to_owned());
    }
    let is_traditional = parts.any(|part| ["hant", "tw", "hk", "mo"].contains(&part));
    Some(if is_traditional { "zh-TW" } else { "zh-CN" }.to_owned())
}

/// The code of the language of a text; nothing if that cannot be said with confidence.
#[must_use]
pub fn detected(text: &str) -> Option<String> {
    let text = text.get(..text.floor_char_boundary(TEXT_BYTES))?;
    let found = detect(text).filter(whatlang::Info::is_reliable)?;
    let code = match found.lang() {
        Lang::Cmn => {
            let count = |signs: &str| text.chars().filter(|sign| signs.contains(*sign)).count();
            return Some(
                if count(TRADITIONAL) > count(SIMPLIFIED) { "zh-TW" } else { "zh-CN" }.to_owned(),
            );
        }
        Lang::Eng => "en",
        Lang::Rus => "ru",
        Lang::Spa => "es",
        Lang::Por => "pt",
        Lang::Ita => "it",
        Lang::Ben => "bn",
        Lang::Fra => "fr",
        Lang::Deu => "de",
        Lang::Ukr => "uk",
        Lang::Kat => "ka",
        Lang::Ara => "ar",
        Lang::Hin => "hi",
        Lang::Jpn => "ja",
        Lang::Heb => "iw",
        Lang::Yid => "yi",
        Lang::Pol => "pl",
        Lang::Amh => "am",
        Lang::Jav => "jv",
        Lang::Kor => "ko",
        Lang::Nob => "no",
        Lang::Dan => "da",
        Lang::Swe => "sv",
        Lang::Fin => "fi",
        Lang::Tur => "tr",
        Lang::Nld => "nl",
        Lang::Hun => "hu",
        Lang::Ces => "cs",
        Lang::Ell => "el",
        Lang::Bul => "bg",
        Lang::Bel => "be",
        Lang::Mar => "mr",
        Lang::Kan => "kn",
        Lang::Ron => "ro",
        Lang::Slv => "sl",
        Lang::Hrv => "hr",
        Lang::Srp => "sr",
        Lang::Mkd => "mk",
        Lang::Lit => "lt",
        Lang::Lav => "lv",
        Lang::Est => "et",
        Lang::Tam => "ta",
        Lang::Vie => "vi",
        Lang::Urd => "ur",
        Lang::Tha => "th",
        Lang::Guj => "gu",
        Lang::Uzb => "uz",
        Lang::Pan => "pa",
        Lang::Aze => "az",
        Lang::Ind => "id",
        Lang::Tel => "te",
        Lang::Pes => "fa",
        Lang::Mal => "ml",
        Lang::Ori => "or",
        Lang::Mya => "my",
        Lang::Nep => "ne",
        Lang::Sin => "si",
        Lang::Khm => "km",
        Lang::Tuk => "tk",
        Lang::Aka => "ak",
        Lang::Zul => "zu",
        Lang::Sna => "sn",
        Lang::Afr => "af",
        Lang::Lat => "la",
        Lang::Slk => "sk",
        Lang::Cat => "ca",
        Lang::Tgl => "fil",
        Lang::Hye => "hy",
        other => other.code(),
    };
    Some(code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_language_loses_its_region_unless_it_is_chinese() {
        for (tag, code) in [
            ("en", Some("en")),
            ("en-US", Some("en")),
            (" pt_BR ", Some("pt")),
            ("zh", Some("zh-CN")),
            ("zh-CN", Some("zh-CN")),
            ("zh-Hant-HK", Some("zh-TW")),
            ("fil", Some("fil")),
            ("", None),
            ("x", None),
            ("123", None),
        ] {
            assert_eq!(declared(tag).as_deref(), code, "{tag}");
        }
    }

    #[test]
    fn a_text_tells_its_language_or_nothing() {
        for (text, code) in [
            (
                "This is a page about nothing in particular, written in plain English for a test of languages.",
                Some("en"),
            ),
            (
                "Dies ist eine Seite über nichts Besonderes, geschrieben auf Deutsch für einen Test der Sprachen.",
                Some("de"),
            ),
            ("这是一个用中文写的网页，我们来说说这个国家的学校和书。", Some("zh-CN")),
            ("這是一個用中文寫的網頁，我們來說說這個國家的學校和書。", Some("zh-TW")),
            ("これは日本語で書かれたページです。言語の検出を試します。", Some("ja")),
            ("12345 67890", None),
            ("", None),
        ] {
            assert_eq!(detected(text).as_deref(), code, "{text}");
        }
    }
}
