//! Languages, regions and categories: the lists that the service knows. They are data of the interface, not state.

use crate::api::error::{Error, Place};

/// Application languages: code and English name.
pub const LANGUAGES: &[(&str, &str)] = &[
    ("af", "Afrikaans"),
    ("am", "Amharic"),
    ("ar", "Arabic"),
    ("as", "Assamese"),
    ("az", "Azerbaijani"),
    ("be", "Belarusian"),
    ("bg", "Bulgarian"),
    ("bn", "Bangla"),
    ("bs", "Bosnian"),
    ("ca", "Catalan"),
    ("cs", "Czech"),
    ("da", "Danish"),
    ("de", "German"),
    ("el", "Greek"),
    ("en", "English"),
    ("en-GB", "English (United Kingdom)"),
    ("en-IN", "English (India)"),
    ("es", "Spanish"),
    ("es-419", "Spanish (Latin America)"),
    ("es-US", "Spanish (United States)"),
    ("et", "Estonian"),
    ("eu", "Basque"),
    ("fa", "Persian"),
    ("fi", "Finnish"),
    ("fil", "Filipino"),
    ("fr", "French"),
    ("fr-CA", "French (Canada)"),
    ("gl", "Galician"),
    ("gu", "Gujarati"),
    ("hi", "Hindi"),
    ("hr", "Croatian"),
    ("hu", "Hungarian"),
    ("hy", "Armenian"),
    ("id", "Indonesian"),
    ("is", "Icelandic"),
    ("it", "Italian"),
    ("iw", "Hebrew"),
    ("ja", "Japanese"),
    ("ka", "Georgian"),
    ("kk", "Kazakh"),
    ("km", "Khmer"),
    ("kn", "Kannada"),
    ("ko", "Korean"),
    ("ky", "Kyrgyz"),
    ("lo", "Lao"),
    ("lt", "Lithuanian"),
    ("lv", "Latvian"),
    ("mk", "Macedonian"),
    ("ml", "Malayalam"),
    ("mn", "Mongolian"),
    ("mr", "Marathi"),
    ("ms", "Malay"),
    ("my", "Burmese"),
    ("ne", "Nepali"),
    ("nl", "Dutch"),
    ("no", "Norwegian"),
    ("or", "Odia"),
    ("pa", "Punjabi"),
    ("pl", "Polish"),
    ("pt", "Portuguese"),
    ("pt-PT", "Portuguese (Portugal)"),
    ("ro", "Romanian"),
    ("ru", "Russian"),
    ("si", "Sinhala"),
    ("sk", "Slovak"),
    ("sl", "Slovenian"),
    ("sq", "Albanian"),
    ("sr", "Serbian"),
    ("sr-Latn", "Serbian (Latin)"),
    ("sv", "Swedish"),
    ("sw", "Swahili"),
    ("ta", "Tamil"),
    ("te", "Telugu"),
    ("th", "Thai"),
    ("tr", "Turkish"),
    ("uk", "Ukrainian"),
    ("ur", "Urdu"),
    ("uz", "Uzbek"),
    ("vi", "Vietnamese"),
    ("zh-CN", "Chinese (China)"),
    ("zh-HK", "Chinese (Hong Kong)"),
    ("zh-TW", "Chinese (Taiwan)"),
    ("zu", "Zulu"),
];

/// Content regions: code and English name.
pub const REGIONS: &[(&str, &str)] = &[
    ("AE", "United Arab Emirates"),
    ("AR", "Argentina"),
    ("AT", "Austria"),
    ("AU", "Australia"),
    ("AZ", "Azerbaijan"),
    ("BA", "Bosnia and Herzegovina"),
    ("BD", "Bangladesh"),
    ("BE", "Belgium"),
    ("BG", "Bulgaria"),
    ("BH", "Bahrain"),
    ("BO", "Bolivia"),
    ("BR", "Brazil"),
    ("BY", "Belarus"),
    ("CA", "Canada"),
    ("CH", "Switzerland"),
    ("CL", "Chile"),
    ("CO", "Colombia"),
    ("CR", "Costa Rica"),
    ("CY", "Cyprus"),
    ("CZ", "Czechia"),
    ("DE", "Germany"),
    ("DK", "Denmark"),
    ("DO", "Dominican Republic"),
    ("DZ", "Algeria"),
    ("EC", "Ecuador"),
    ("EE", "Estonia"),
    ("EG", "Egypt"),
    ("ES", "Spain"),
    ("FI", "Finland"),
    ("FR", "France"),
    ("GB", "United Kingdom"),
    ("GE", "Georgia"),
    ("GH", "Ghana"),
    ("GR", "Greece"),
    ("GT", "Guatemala"),
    ("HK", "Hong Kong"),
    ("HN", "Honduras"),
    ("HR", "Croatia"),
    ("HU", "Hungary"),
    ("ID", "Indonesia"),
    ("IE", "Ireland"),
    ("IL", "Israel"),
    ("IN", "India"),
    ("IQ", "Iraq"),
    ("IS", "Iceland"),
    ("IT", "Italy"),
    ("JM", "Jamaica"),
    ("JO", "Jordan"),
    ("JP", "Japan"),
    ("KE", "Kenya"),
    ("KH", "Cambodia"),
    ("KR", "South Korea"),
    ("KW", "Kuwait"),
    ("KZ", "Kazakhstan"),
    ("LA", "Laos"),
    ("LB", "Lebanon"),
    ("LI", "Liechtenstein"),
    ("LK", "Sri Lanka"),
    ("LT", "Lithuania"),
    ("LU", "Luxembourg"),
    ("LV", "Latvia"),
    ("LY", "Libya"),
    ("MA", "Morocco"),
    ("MD", "Moldova"),
    ("ME", "Montenegro"),
    ("MK", "North Macedonia"),
    ("MT", "Malta"),
    ("MX", "Mexico"),
    ("MY", "Malaysia"),
    ("NG", "Nigeria"),
    ("NI", "Nicaragua"),
    ("NL", "Netherlands"),
    ("NO", "Norway"),
    ("NP", "Nepal"),
    ("NZ", "New Zealand"),
    ("OM", "Oman"),
    ("PA", "Panama"),
    ("PE", "Peru"),
    ("PG", "Papua New Guinea"),
    ("PH", "Philippines"),
    ("PK", "Pakistan"),
    ("PL", "Poland"),
    ("PR", "Puerto Rico"),
    ("PT", "Portugal"),
    ("PY", "Paraguay"),
    ("QA", "Qatar"),
    ("RO", "Romania"),
    ("RS", "Serbia"),
    ("RU", "Russia"),
    ("SA", "Saudi Arabia"),
    ("SE", "Sweden"),
    ("SG", "Singapore"),
    ("SI", "Slovenia"),
    ("SK", "Slovakia"),
    ("SN", "Senegal"),
    ("SV", "El Salvador"),
    ("TH", "Thailand"),
    ("TN", "Tunisia"),
    ("TR", "Türkiye"),
    ("TW", "Taiwan"),
    ("TZ", "Tanzania"),
    ("UA", "Ukraine"),
    ("UG", "Uganda"),
    ("US", "United States"),
    ("UY", "Uruguay"),
    ("VE", "Venezuela"),
    ("VN", "Vietnam"),
    ("YE", "Yemen"),
    ("ZA", "South Africa"),
    ("ZW", "Zimbabwe"),
];

/// A language tag with hyphens between its parts: some clients write `pt_BR`.
#[must_use]
pub fn with_hyphens(tag: &str) -> String {
    tag.replace('_', "-")
}

/// A tag as BCP 47 writes it: with hyphens, its language in lower case, its script as a name and its region in capitals (RFC 5646, section
/// 2.1.1), so that `pt_br` is `pt-BR` and `ZH-hant` is `zh-Hant`.
#[must_use]
pub fn written(tag: &str) -> String {
    let (mut out, mut is_behind_single) = (String::with_capacity(tag.len()), false);
    for (at, subtag) in tag.split(['-', '_']).enumerate() {
        if at > 0 {
            out.push('-');
        }
        let mut letters = subtag.chars();
        match subtag.len() {
            2 if at > 0 && !is_behind_single => out.push_str(&subtag.to_ascii_uppercase()),
            4 if at > 0 && !is_behind_single => {
                out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
                out.extend(letters.map(|letter| letter.to_ascii_lowercase()));
            }
            _ => out.push_str(&subtag.to_ascii_lowercase()),
        }
        is_behind_single |= subtag.len() == 1;
    }
    out
}

/// Returns whether two tags name one language, however each is written.
#[must_use]
pub fn is_same(one: &str, other: &str) -> bool {
    canonical(one).eq_ignore_ascii_case(&canonical(other))
}

/// Codes of languages that the registry of BCP 47 replaced, and what is written for them since.
const REPLACED: &[(&str, &str)] = &[("in", "id"), ("iw", "he")];

/// The language of a tag, without its script and region, by the code that is written today.
fn primary(tag: &str) -> &str {
    let code = tag.split('-').next().unwrap_or_default();
    let replaced = REPLACED.iter().find(|(old, _)| old.eq_ignore_ascii_case(code));
    replaced.map_or(code, |(_, today)| today)
}

/// A tag as its language is compared and translators know it: with hyphens, and `he` for `iw`, which the list of languages still says.
#[must_use]
pub fn canonical(tag: &str) -> String {
    let tag = with_hyphens(tag);
    match tag.split_once('-') {
        Some((_, rest)) => format!("{}-{rest}", primary(&tag)),
        None => primary(&tag).to_owned(),
    }
}

/// The language of `hl`: `en_US`, `en-US` and `en` are one, and a dialect or a script that is not listed is its language.
#[must_use]
pub fn language(code: &str) -> Option<&'static str> {
    let code = with_hyphens(code);
    let mut listed = LANGUAGES.iter().map(|(code, _)| *code);
    let same = listed.clone().find(|listed| listed.eq_ignore_ascii_case(&code));
    // Chinese is listed by its regions alone, so the language of what is listed counts too.
    same.or_else(|| listed.find(|listed| primary(listed).eq_ignore_ascii_case(primary(&code))))
}

/// The tag of `Accept-Language` that is wanted most, if it is one that is listed; what comes first wins among equals.
#[must_use]
pub fn preferred(header: &str) -> Option<&str> {
    const TAGS_MAX: usize = 20;
    let mut best: Option<(&str, f32)> = None;
    for piece in header.split(',').take(TAGS_MAX) {
        let (tag, quality) = piece.split_once(';').unwrap_or((piece, "q=1"));
        let quality = quality.trim().strip_prefix("q=");
        let quality = quality.and_then(|text| text.parse().ok()).unwrap_or(0.0);
        let tag = tag.trim();
        let is_better = best.is_none_or(|(_, before)| quality > before);
        if quality > 0.0 && is_better && is_tag(tag) && language(tag).is_some() {
            best = Some((tag, quality));
        }
    }
    best.map(|(tag, _)| tag)
}

/// A language tag has at most this many bytes: what every reader of tags has room for (RFC 5646, section 4.4.1).
const TAG_BYTES_MAX: usize = 35;

/// Returns whether text is a language tag (BCP 47, its form and length alone).
#[must_use]
pub fn is_tag(text: &str) -> bool {
    let mut subtags = text.split(['-', '_']);
    let first = subtags.next().unwrap_or_default();
    text.len() <= TAG_BYTES_MAX
        && (2..=8).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && subtags.all(|tag| {
            (1..=8).contains(&tag.len()) && tag.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// The code of a region as it is listed; case does not count.
#[must_use]
pub fn region(code: &str) -> Option<&'static str> {
    REGIONS.iter().map(|(known, _)| *known).find(|known| known.eq_ignore_ascii_case(code))
}

/// Checks the code of a language, which stands at `place`: it has the form of one, and its language is listed.
///
/// # Errors
/// [`Error::InvalidLanguage`], [`Error::UnsupportedLanguage`].
pub fn check(code: &str, place: impl FnOnce() -> Place) -> Result<(), Error> {
    if !is_tag(code) {
        return Err(Error::InvalidLanguage(code.to_owned(), place()));
    }
    match language(code) {
        Some(_) => Ok(()),
        None => Err(Error::UnsupportedLanguage(code.to_owned(), place())),
    }
}

/// Checks the code of a region.
///
/// # Errors
/// [`Error::InvalidRegion`], [`Error::UnsupportedRegion`].
pub fn check_region(code: &str) -> Result<(), Error> {
    if region(code).is_some() {
        return Ok(());
    }
    let is_code = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
    Err(if is_code { Error::UnsupportedRegion } else { Error::InvalidRegion }(code.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_found_in_the_forms_that_clients_write() {
        assert_eq!(language("en_US"), Some("en"));
        assert_eq!(language("zh-tw"), Some("zh-TW"));
        assert_eq!(language("tlh"), None);
        for (code, listed) in
            [("zh", "zh-CN"), ("zh-Hant", "zh-CN"), ("ZH_hans_HK", "zh-CN"), ("de-AT", "de")]
        {
            assert_eq!(language(code), Some(listed), "{code}");
        }
        for (code, listed) in
            [("he", "iw"), ("iw", "iw"), ("he-IL", "iw"), ("in", "id"), ("ID", "id")]
        {
            assert_eq!(language(code), Some(listed), "{code}");
        }
        assert!(is_tag("sr-Latn") && !is_tag("x") && !is_tag("en-"));
    }

    #[test]
    fn a_tag_is_written_as_its_standard_writes_it() {
        for (tag, form) in [
            ("pt-br", "pt-BR"),
            ("pt_BR", "pt-BR"),
            ("EN", "en"),
            ("zh_hant_tw", "zh-Hant-TW"),
            ("SR-LATN", "sr-Latn"),
            ("es-419", "es-419"),
            ("FIL", "fil"),
            ("de-1996", "de-1996"),
            ("en-u-CA-Buddhist", "en-u-ca-buddhist"),
            ("iw", "iw"),
            ("", ""),
        ] {
            assert_eq!(written(tag), form, "{tag}");
        }
        assert!(is_same("he", "iw") && is_same("pt_br", "pt-BR") && !is_same("pt", "pt-BR"));
    }

    #[test]
    fn the_best_listed_language_of_a_header_is_taken() {
        for (header, expected) in [
            ("de-AT, de;q=0.9, en;q=0.8", Some("de-AT")),
            ("en;q=0.5,fr", Some("fr")),
            ("tlh, de;q=0.1", Some("de")),
            ("*", None),
            ("de;q=0", None),
            ("de;q=x,,;;", None),
            ("", None),
        ] {
            assert_eq!(preferred(header), expected, "{header}");
        }
    }

    #[test]
    fn codes_are_listed_once() {
        for pair in LANGUAGES.windows(2).chain(REGIONS.windows(2)) {
            assert!(pair[0].0 < pair[1].0, "{pair:?}");
        }
    }
}
