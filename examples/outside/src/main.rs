//! Shows that a service can be used from outside: this compiles against nothing but what the crates export.

use object_put as _;
use tabs_api as _;

fn main() {}
