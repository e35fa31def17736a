//! Routing: from the method and path of a request to the row of its operation.

use super::OPERATIONS;
use crate::api::operation::Operation;

/// The place of a path in the table.
#[derive(Debug)]
pub enum Route {
    /// This operation, and the values of its path.
    Operation(&'static Operation, Vec<(String, String)>),
    /// These methods alone are served there.
    OtherMethod(Vec<&'static str>),
    /// Nothing is served there.
    None,
}

/// Finds the operation of `method` at `path`, which is relative to the version.
#[must_use]
pub fn find(method: &str, path: &str) -> Route {
    let mut served = Vec::new();
    for operation in OPERATIONS {
        let Some(values) = values_of(operation.path, path) else {
            continue;
        };
        if operation.method.name() == method {
            return Route::Operation(operation, values);
        }
        served.push(operation.method.name());
    }
    if served.is_empty() { Route::None } else { Route::OtherMethod(served) }
}

/// The values of `{name}` segments, or `None` if the path is another.
fn values_of(pattern: &'static str, path: &str) -> Option<Vec<(String, String)>> {
    if !pattern.ends_with('}') {
        return (pattern == path).then(Vec::new);
    }
    let (fixed, name) = pattern.split_once("/{")?;
    let value = path.strip_prefix(fixed)?.strip_prefix('/')?;
    let name = name.trim_end_matches('}').to_owned();
    (!value.is_empty() && !value.contains('/')).then(|| vec![(name, value.to_owned())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_found_at_its_own_path() {
        for operation in OPERATIONS {
            let path = operation.path.replace("{id}", "x");
            let Route::Operation(found, _) = find(operation.method.name(), &path) else {
                panic!("{}", operation.name)
            };
            assert_eq!(found.name, operation.name);
        }
        let Route::OtherMethod(served) = find("PATCH", "/videos") else {
            panic!("videos are not served with PATCH")
        };
        assert_eq!(served, ["POST", "GET", "DELETE", "PUT"]);
        assert!(matches!(find("GET", "/captions/a/b"), Route::None));
        assert!(matches!(find("GET", "/nothing"), Route::None));
    }
}
