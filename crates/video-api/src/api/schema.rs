//! The types of bodies and answers, as the published document of revision 20261104 has them, with those of operations that it
//! no longer lists (facts: operations_legacy).

use std::sync::LazyLock;

use serde_json::Value;

static SCHEMAS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("schemas.json")).unwrap_or_default());

/// All of them by their names, as JSON Schema.
#[must_use]
pub fn all() -> &'static Value {
    &SCHEMAS
}

/// The type of a value.
#[derive(Debug, Clone, Copy)]
pub struct Shape(&'static Value);

impl Shape {
    /// The type with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        SCHEMAS.get(name).map(Self::of)
    }

    /// A type, or that of the elements of a list: names speak of them.
    fn of(mut schema: &'static Value) -> Self {
        while let Some(items) = schema.get("items") {
            schema = items;
        }
        let named = schema.get("$ref").and_then(Value::as_str);
        match named.and_then(|name| SCHEMAS.get(name)) {
            Some(named) => Self::of(named),
            None => Self(schema),
        }
    }

    /// The type of a member; none if there is no such member.
    #[must_use]
    pub fn member(self, name: &str) -> Option<Self> {
        let known = self.0.get("properties").and_then(|all| all.get(name));
        let schema = known.or_else(|| self.0.get("additionalProperties"));
        schema.map(Self::of)
    }

    /// Returns whether it has members.
    #[must_use]
    pub fn has_members(self) -> bool {
        ["properties", "additionalProperties"].iter().any(|name| self.0.get(name).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_through_lists_references_and_free_names() {
        let list = Shape::named("VideoListResponse").unwrap();
        let at = |path: &str| path.split('/').try_fold(list, Shape::member);
        for path in [
            "kind",
            "items/snippet/thumbnails/default/url",
            "items/localizations/de/title",
            "items/fileDetails/videoStreams/codec",
        ] {
            assert!(at(path).is_some(), "{path}");
        }
        for path in ["none", "kind/x", "items/snippet/none", "items/localizations/de/none"] {
            assert!(at(path).is_none(), "{path}");
        }
        assert!(list.has_members() && !at("items/id").unwrap().has_members());
        assert!(Shape::named("None").is_none());
    }
}
