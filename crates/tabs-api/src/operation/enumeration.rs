//! Enumerations of the interface: types whose values are words, which the browser shows as objects of constants (Spec tabs-api §2).

use std::collections::BTreeMap;

use super::OPERATIONS;
use super::schema::Schema;
use crate::browser::tab::MuteReason;

/// Words by the full name of their type, as `tabs.TabStatus`.
type Words = BTreeMap<&'static str, &'static [&'static str]>;

/// Every enumeration: those of parameters, and those that results alone have.
#[must_use]
pub fn enumerations() -> Words {
    let mut words = Words::from([("tabs.MutedInfoReason", MuteReason::WORDS)]);
    let parameters = OPERATIONS.iter().flat_map(|row| row.parameters);
    parameters.for_each(|parameter| collect(&parameter.schema, &mut words));
    words
}

/// The name of a word among the constants of its type.
#[must_use]
pub fn constant_name(word: &str) -> String {
    word.to_uppercase().replace('-', "_")
}

fn collect(schema: &Schema, found: &mut Words) {
    match schema {
        Schema::Named(name, Schema::Word(words)) => {
            found.insert(name, words);
        }
        Schema::Named(_, schema) | Schema::Array { of: schema, .. } => collect(schema, found),
        Schema::Object(properties) => {
            properties.iter().for_each(|property| collect(&property.schema, found));
        }
        Schema::Choice(choices) => choices.iter().for_each(|choice| collect(choice, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_enumerations_of_the_specification_have_its_words() {
        let all = enumerations();
        for (name, words) in [
            ("tabs.MutedInfoReason", &["capture", "extension", "user"][..]),
            ("tabs.TabStatus", &["complete", "loading", "unloaded"]),
            ("tabs.ZoomSettingsMode", &["automatic", "disabled", "manual"]),
            ("tabs.ZoomSettingsScope", &["per-origin", "per-tab"]),
        ] {
            assert_eq!(all.get(name), Some(&words), "{name}");
        }
        assert_eq!(constant_name("per-origin"), "PER_ORIGIN");
    }
}
