//! Languages, regions and categories: the lists that the service knows. They are data of the interface, not state.

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

/// Video categories: id, title, and whether a video may be assigned to it.
pub const VIDEO_CATEGORIES: &[(&str, &str, bool)] = &[
    ("1", "Film & Animation", true),
    ("2", "Autos & Vehicles", true),
    ("10", "Music", true),
    ("15", "Pets & Animals", true),
    ("17", "Sports", true),
    ("18", "Short Movies", false),
    ("19", "Travel & Events", true),
    ("20", "Gaming", true),
    ("21", "Videoblogging", false),
    ("22", "People & Blogs", true),
    ("23", "Comedy", true),
    ("24", "Entertainment", true),
    ("25", "News & Politics", true),
    ("26", "Howto & Style", true),
    ("27", "Education", true),
    ("28", "Science & Technology", true),
    ("29", "Nonprofits & Activism", true),
    ("30", "Movies", false),
    ("31", "Anime/Animation", false),
    ("32", "Action/Adventure", false),
    ("33", "Classics", false),
    ("34", "Comedy", false),
    ("35", "Documentary", false),
    ("36", "Drama", false),
    ("37", "Family", false),
    ("38", "Foreign", false),
    ("39", "Horror", false),
    ("40", "Sci-Fi/Fantasy", false),
    ("41", "Thriller", false),
    ("42", "Shorts", false),
    ("43", "Shows", false),
    ("44", "Trailers", false),
];

/// Guide categories, which the service assigns to channels by itself: id and title.
pub const GUIDE_CATEGORIES: &[(&str, &str)] = &[
    ("GCQmVzdCBvZiB0aGUgc2VydmljZQ", "Best of the service"),
    ("GCQ3JlYXRvciBvbiB0aGUgcmlzZQ", "Creator on the rise"),
    ("GCTXVzaWM", "Music"),
    ("GCQ29tZWR5", "Comedy"),
    ("GCRmlsbSAmIEVudGVydGFpbm1lbnQ", "Film & Entertainment"),
    ("GCR2FtaW5n", "Gaming"),
    ("GCQmVhdXR5ICYgRmFzaGlvbg", "Beauty & Fashion"),
    ("GCU3BvcnRz", "Sports"),
    ("GCVGVjaA", "Tech"),
    ("GCQ29va2luZyAmIEhlYWx0aA", "Cooking & Health"),
    ("GCTmV3cyAmIFBvbGl0aWNz", "News & Politics"),
];

/// The language of `hl`: `en_US`, `en-US` and `en` are one, and a dialect that is not listed is its language.
#[must_use]
pub fn language(code: &str) -> Option<&'static str> {
    let code = code.replace('_', "-");
    let listed = |wanted: &str| {
        LANGUAGES.iter().map(|(code, _)| *code).find(|code| code.eq_ignore_ascii_case(wanted))
    };
    listed(&code).or_else(|| listed(code.split('-').next().unwrap_or_default()))
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

/// Whether text is a language tag (BCP 47, its form alone).
#[must_use]
pub fn is_tag(text: &str) -> bool {
    let mut subtags = text.split(['-', '_']);
    let first = subtags.next().unwrap_or_default();
    (2..=8).contains(&first.len())
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

/// The title of an assignable video category.
#[must_use]
pub fn assignable_category(id: &str) -> Option<&'static str> {
    VIDEO_CATEGORIES
        .iter()
        .find(|(known, _, assignable)| *known == id && *assignable)
        .map(|(_, title, _)| *title)
}

/// The guide category that the service gives a channel: it follows from the channel's id, so it never changes.
#[must_use]
pub fn guide_category_of(channel: &str) -> &'static str {
    let sum =
        channel.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    GUIDE_CATEGORIES.get(sum % GUIDE_CATEGORIES.len()).map_or("", |(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_found_in_the_forms_that_clients_write() {
        assert_eq!(language("en_US"), Some("en"));
        assert_eq!(language("zh-tw"), Some("zh-TW"));
        assert_eq!(language("tlh"), None);
        assert!(is_tag("sr-Latn") && !is_tag("x") && !is_tag("en-"));
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
