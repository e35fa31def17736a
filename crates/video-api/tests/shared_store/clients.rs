//! The suites of google-api-python-client against three instances, each request at the next one.

use triptych_core::host::testing::{Instance, RoundRobin, run_suite, workspace_file};
use triptych_core::kv::StoreServer;

use crate::INSTANCES;

const ADMIN_TOKEN: &str = "admin-token-of-the-suites";

/// Runs files of `tests/video` with each request at the next of three instances.
fn run(files: &[&str]) {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let seed = workspace_file("tests/video/seed.json").unwrap();
    let text = std::fs::read_to_string(&seed).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let program = env!("CARGO_BIN_EXE_video-api");
    let mut instances: Vec<Instance> = (0..INSTANCES)
        .map(|number| {
            let made = Instance::new(program, folder.path(), number, &server.url(), &text).unwrap();
            made.sharing_bodies().unwrap().started_with(&["--admin-token", ADMIN_TOKEN])
        })
        .collect();
    instances.iter_mut().for_each(|instance| instance.begin().unwrap());
    instances.iter_mut().for_each(|instance| instance.ready().unwrap());
    let proxy = RoundRobin::start(instances.iter().map(Instance::client).collect()).unwrap();
    let facts = [
        ("API_KEY", parsed["projects"][0]["apiKeys"][0].as_str().unwrap()),
        ("TOKEN", parsed["accounts"][0]["tokens"][0]["token"].as_str().unwrap()),
        ("SEED", seed.to_str().unwrap()),
        ("ADMIN_TOKEN", ADMIN_TOKEN),
    ];
    for file in files {
        run_suite("video", file, &proxy.url(), &facts).unwrap();
    }
    assert!(proxy.passed_on().iter().all(|requests| *requests > 5), "{:?}", proxy.passed_on());
}

#[test]
fn google_s_client_finds_one_service_behind_three_instances() {
    run(&["slice_test.py", "comments_test.py"]);
}

/// The suites that the tests of each time have no time for: `cargo xtask scale` runs them.
mod long {
    use super::run;

    #[test]
    fn captions_audiences_media_and_the_whole_surface_are_the_same_at_three_instances() {
        run(&["audience_test.py", "captions_test.py", "media_test.py", "surface_test.py"]);
    }
}
