//! The suites of the JavaScript client against three instances: each request goes to the next one, which sends it on to where the profile runs.

use triptych_core::host::testing::{
    Client, Instance, Nginx, RoundRobin, run_suite, workspace_file,
};
use triptych_core::kv::StoreServer;

use crate::{CONTROL, of_seed};

const ADMIN_TOKEN: &str = "admin-token-of-the-suites";

/// Runs files of `tests/tabs` with each request at the next of three instances.
fn run(files: &[&str]) {
    behind(files, |clients| {
        let proxy = RoundRobin::following(clients).unwrap();
        (proxy.url(), proxy)
    });
}

/// Runs files of `tests/tabs` on three instances behind a proxy.
fn behind<P>(files: &[&str], proxy: impl FnOnce(&[Client]) -> (String, P)) {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let seed = workspace_file("packaging/demo/tabs-api.json").unwrap();
    let text = std::fs::read_to_string(&seed).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let instances = of_seed(&server, &folder, 3, &text, &["--admin-token", ADMIN_TOKEN]);
    let clients: Vec<_> = instances.iter().map(Instance::client).collect();
    let (url, _proxy) = proxy(&clients);
    let facts = [
        ("TOKEN", parsed["extensions"][0]["token"].as_str().unwrap()),
        ("SEED", seed.to_str().unwrap()),
        ("ADMIN_TOKEN", ADMIN_TOKEN),
        ("CONTROL_TOKEN", CONTROL),
    ];
    for file in files {
        run_suite("tabs", file, &url, &facts).unwrap();
    }
}

#[test]
fn the_javascript_client_finds_its_profile_behind_three_instances() {
    run(&["slice.test.mjs"]);
}

/// The suites that the tests of each time have no time for: `cargo xtask scale` runs them.
mod long {
    use super::*;

    #[test]
    fn the_javascript_client_finds_its_profile_behind_the_proxy_of_the_package() {
        behind(&["slice.test.mjs"], |clients| {
            let proxy = Nginx::start("tabs-api", clients).unwrap();
            (proxy.client().url(), proxy)
        });
    }

    #[test]
    fn the_suites_of_the_javascript_client_are_answered_alike_at_three_instances() {
        run(&["argument.test.mjs", "content_scripts.test.mjs", "incognito.test.mjs"]);
    }
}
