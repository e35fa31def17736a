//! Reading a resource that a client wrote: typed fields at their paths, and the rules that texts share.

use serde_json::{Map, Value};

use crate::api::error::{Error, Place};
use crate::api::language;

/// An object of a body, and its path for messages.
#[derive(Debug, Clone, Copy)]
pub struct Body<'b> {
    map: &'b Map<String, Value>,
    path: &'static str,
}

impl<'b> Body<'b> {
    /// The whole body.
    #[must_use]
    pub const fn of(map: &'b Map<String, Value>) -> Self {
        Self { map, path: "" }
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn invalid(&self, name: &str, expected: &'static str) -> Error {
        Error::InvalidField { path: self.path_of(name), expected }
    }

    /// The value, if it is there and not null.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'b Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// All members that are there and not null.
    pub fn members(&self) -> impl Iterator<Item = (String, Value)> + 'b {
        let given = self.map.iter().filter(|(_, value)| !value.is_null());
        given.map(|(name, value)| (name.clone(), value.clone()))
    }

    /// An object; `path` is its own for messages.
    ///
    /// # Errors
    /// [`Error::InvalidField`] if it is something else.
    pub fn object(&self, name: &str, path: &'static str) -> Result<Option<Self>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Body { map, path })),
            Some(_) => Err(self.invalid(name, "an object")),
        }
    }

    /// A text. Numbers count as text, as the real service reads them.
    ///
    /// # Errors
    /// [`Error::InvalidField`] if it is something else.
    pub fn text(&self, name: &str) -> Result<Option<String>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(self.invalid(name, "TYPE_STRING")),
        }
    }

    /// A text that says something: clients of typed languages write an empty one for none.
    ///
    /// # Errors
    /// [`Error::InvalidField`] if it is something else.
    pub fn filled_text(&self, name: &str) -> Result<Option<String>, Error> {
        Ok(self.text(name)?.filter(|text| !text.is_empty()))
    }

    /// The id of the resource; an empty one is none.
    ///
    /// # Errors
    /// [`Error::InvalidField`].
    pub fn id(&self) -> Result<Option<String>, Error> {
        self.filled_text("id")
    }

    /// The tag of a language that is listed, as its standard writes it; an empty one is none.
    ///
    /// # Errors
    /// [`Error::InvalidField`]; [`Error::InvalidLanguage`], [`Error::UnsupportedLanguage`], with its path.
    pub fn language(&self, name: &str) -> Result<Option<String>, Error> {
        let tag = self.filled_text(name)?;
        if let Some(tag) = &tag {
            language::check(tag, || Place::Body(self.path_of(name).into()))?;
        }
        Ok(tag.map(|tag| language::written(&tag)))
    }

    /// A yes or no.
    ///
    /// # Errors
    /// [`Error::InvalidField`] if it is something else.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) if text == "true" => Ok(Some(true)),
            Some(Value::String(text)) if text == "false" => Ok(Some(false)),
            Some(_) => Err(self.invalid(name, "TYPE_BOOL")),
        }
    }

    /// A whole number that is not negative, as a number or as text; `1.0` is one (the JSON form of protocol buffers).
    ///
    /// # Errors
    /// [`Error::InvalidField`] if it is something else.
    pub fn number(&self, name: &str) -> Result<Option<u64>, Error> {
        let whole = |text: &str| text.strip_suffix(".0").unwrap_or(text).parse().ok();
        let number = match self.get(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => whole(&number.to_string()),
            Some(Value::String(text)) => whole(text),
            Some(_) => None,
        };
        number.map(Some).ok_or_else(|| self.invalid(name, "TYPE_UINT64"))
    }

    /// A list of texts.
    ///
    /// # Errors
    /// [`Error::InvalidField`] if it is something else.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Error> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let list = value.as_array().ok_or_else(|| self.invalid(name, "a list of texts"))?;
        let texts = list.iter().map(|item| item.as_str().map(str::to_owned));
        texts
            .collect::<Option<Vec<_>>>()
            .map(Some)
            .ok_or_else(|| self.invalid(name, "a list of texts"))
    }
}

/// Reads a text of a stored object; empty if it has none.
#[must_use]
pub fn text_of(map: &Map<String, Value>, name: &str) -> String {
    map.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns whether a text may be shown in a page as it is.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    !text.contains(['<', '>'])
}

/// Returns whether a text is a title: not blank, at most `most` characters, no `<` or `>`, no control characters.
#[must_use]
pub fn is_title(text: &str, most: usize) -> bool {
    !text.trim().is_empty() && text.chars().count() <= most && is_name(text)
}

/// Returns whether a text can stand on one line of a page: no `<` or `>`, no control characters.
#[must_use]
pub fn is_name(text: &str) -> bool {
    is_plain(text) && !text.chars().any(char::is_control)
}

/// A description has at most this many bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 5_000;

/// Returns whether a text is a description: of bounded length, no `<` or `>`, no control characters but line breaks and tabs.
#[must_use]
pub fn is_description(text: &str) -> bool {
    let is_stray = |letter: char| letter.is_control() && !['\n', '\r', '\t'].contains(&letter);
    text.len() <= DESCRIPTION_BYTES_MAX && is_plain(text) && !text.chars().any(is_stray)
}

/// Localizations have at most this many bytes together, so that a resource stays one record.
pub const LOCALIZATIONS_BYTES_MAX: usize = 40 * 1024;

/// Checks that the keys of localizations are languages.
///
/// # Errors
/// [`Error::InvalidLanguage`], [`Error::UnsupportedLanguage`], with their path.
pub fn check_languages(localizations: &Map<String, Value>) -> Result<(), Error> {
    localizations.keys().try_for_each(|language| {
        language::check(language, || Place::Body(format!("localizations.{language}").into()))
    })
}

/// The title of a localization, beside its description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalizedTitle {
    /// A title, always.
    Required,
    /// A title or none: that of a channel can not be written, and a localization without one has the channel's own.
    Optional,
}

/// Localizations as they are stored: language, as its standard writes it, to title and description. `None` if one of them is none, or if two are
/// of one language. Their languages are checked before. That in the default language, `own`, is left out: there the snippet's texts count.
#[must_use]
pub fn localizations(
    map: &Map<String, Value>,
    own: Option<&str>,
    titles: LocalizedTitle,
    title_max: usize,
) -> Option<Map<String, Value>> {
    let mut out = Map::new();
    let mut bytes = 0;
    for (language, value) in map {
        let value = Body::of(value.as_object()?);
        let text = |name| value.get(name).map_or(Some(""), Value::as_str);
        let (title, description) = (text("title")?, text("description")?);
        let is_untitled = titles == LocalizedTitle::Optional && title.is_empty();
        let says_something = !is_untitled || !description.is_empty();
        if !(is_untitled || is_title(title, title_max))
            || !is_description(description)
            || !says_something
            || out.keys().any(|other| language::is_same(other, language))
        {
            return None;
        }
        bytes += language.len() + title.len() + description.len() + 40;
        let mut kept = Map::new();
        if !is_untitled {
            kept.insert("title".to_owned(), title.into());
        }
        kept.insert("description".to_owned(), description.into());
        out.insert(language::written(language), kept.into());
    }
    out.retain(|language, _| !own.is_some_and(|own| language::is_same(own, language)));
    (bytes <= LOCALIZATIONS_BYTES_MAX).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_read_as_their_types_or_refused_with_their_path() {
        let value =
            json!({"snippet": {"title": 7, "flag": "true", "offsetMs": "12", "tags": ["a", 1]}});
        let snippet =
            Body::of(value.as_object().unwrap()).object("snippet", "snippet").unwrap().unwrap();
        assert_eq!(snippet.text("title").unwrap().as_deref(), Some("7"));
        assert_eq!(snippet.flag("flag").unwrap(), Some(true));
        assert_eq!(snippet.number("offsetMs").unwrap(), Some(12));
        for (value, number) in [
            (json!(12.0), Some(12)),
            (json!(1e3), Some(1_000)),
            (json!("12.0"), Some(12)),
            (json!(u64::MAX), Some(u64::MAX)),
            (json!(12.5), None),
            (json!(-1.0), None),
            (json!("12.00x"), None),
        ] {
            let body = json!({"offsetMs": value});
            let read = Body::of(body.as_object().unwrap()).number("offsetMs").ok().flatten();
            assert_eq!(read, number, "{value}");
        }
        let error = snippet.texts("tags").unwrap_err();
        assert_eq!(
            error,
            Error::InvalidField { path: "snippet.tags".into(), expected: "a list of texts" }
        );
    }

    #[test]
    fn an_empty_language_is_none_and_one_that_is_not_listed_is_refused_with_its_path() {
        let value =
            json!({"snippet": {"empty": "", "listed": "pt_BR", "unlisted": "zz", "none": null}});
        let body = Body::of(value.as_object().unwrap());
        let snippet = body.object("snippet", "snippet").unwrap().unwrap();
        assert_eq!(snippet.language("empty"), Ok(None));
        assert_eq!(snippet.language("none"), Ok(None));
        assert_eq!(snippet.language("listed"), Ok(Some("pt-BR".to_owned())));
        let place = Place::body("snippet.unlisted");
        assert_eq!(
            snippet.language("unlisted"),
            Err(Error::UnsupportedLanguage("zz".to_owned(), place))
        );
    }

    #[test]
    fn localizations_are_kept_once_a_language_as_its_standard_writes_it_and_never_in_the_default_one()
     {
        let text = json!({"title": "T", "description": "D"});
        let read = |given: Value, titles| {
            localizations(given.as_object().unwrap(), Some("en-GB"), titles, 100).map(Value::Object)
        };
        for titles in [LocalizedTitle::Required, LocalizedTitle::Optional] {
            assert_eq!(
                read(json!({"pt_br": text, "ZH-hant": text, "en_gb": text, "en": text}), titles),
                Some(json!({"pt-BR": text, "zh-Hant": text, "en": text}))
            );
            for twice in [["pt-br", "pt-BR"], ["iw", "he"], ["en-GB", "en_GB"]] {
                let [one, other] = twice;
                assert_eq!(read(json!({one: text, other: text}), titles), None, "{twice:?}");
            }
            for none in [json!({}), json!({"title": " "}), json!({"title": ""}), json!("D")] {
                assert_eq!(read(json!({"de": none}), titles), None, "{none}");
            }
        }
        for untitled in [json!({"description": "D"}), json!({"title": "", "description": "D"})] {
            let given = json!({"de": untitled});
            assert_eq!(read(given.clone(), LocalizedTitle::Required), None);
            let kept = Some(json!({"de": {"description": "D"}}));
            assert_eq!(read(given, LocalizedTitle::Optional), kept);
        }
    }

    #[test]
    fn a_title_is_counted_in_characters_and_a_description_in_bytes() {
        assert!(is_title(&"ä".repeat(100), 100));
        assert!(!is_title(&"ä".repeat(101), 100));
        assert!(!is_title(" ", 100) && !is_title("a<b", 100));
        assert!(!is_title("a\0b", 100) && !is_title("a\nb", 100) && !is_title("a\u{85}b", 100));
        assert!(is_description(&"ä".repeat(2_500)) && !is_description(&"ä".repeat(2_501)));
        assert!(is_description("a\r\n\tb"));
        assert!(!is_description("a\0b") && !is_description("a\u{7}b") && !is_description("\u{85}"));
    }
}
