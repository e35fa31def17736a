//! The suites of boto3 against three instances, each request at the next one.

use triptych_core::host::testing::{
    Client, Instance, Nginx, RoundRobin, run_suite, workspace_file,
};
use triptych_core::kv::StoreServer;

use crate::INSTANCES;
use crate::instance::{Asks, of_seed};

const ADMIN_TOKEN: &str = "admin-token-of-the-suites";

/// Runs files of `tests/object` with each request at the next of three instances.
fn run(files: &[&str]) {
    behind(files, |clients| {
        let proxy = RoundRobin::start(clients).unwrap();
        (proxy.url(), proxy)
    });
}

/// Runs files of `tests/object` on three instances behind a proxy.
fn behind<P>(files: &[&str], proxy: impl FnOnce(Vec<Client>) -> (String, P)) {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let seed = workspace_file("packaging/demo/object-put.json").unwrap();
    let text = std::fs::read_to_string(&seed).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut instances: Vec<Instance> = (0..INSTANCES)
        .map(|number| {
            let made = of_seed(folder.path(), number, &server.url(), &text);
            let flags = ["--admin-token", ADMIN_TOKEN, "--without-public-access-block"];
            made.sharing_bodies().unwrap().started_with(&flags)
        })
        .collect();
    instances.iter_mut().for_each(|instance| instance.begin().unwrap());
    instances.iter_mut().for_each(|instance| instance.ready().unwrap());
    let (url, _proxy) = proxy(instances.iter().map(Instance::client).collect());
    let key = &parsed["accounts"][0]["keys"][0];
    let facts = [
        ("ACCESS_KEY", key["accessKeyId"].as_str().unwrap()),
        ("SECRET_KEY", key["secretAccessKey"].as_str().unwrap()),
        ("REGION", parsed["region"].as_str().unwrap()),
        ("SEED", seed.to_str().unwrap()),
        ("ADMIN_TOKEN", ADMIN_TOKEN),
    ];
    for file in files {
        run_suite("object", file, &url, &facts).unwrap();
    }
    for instance in &instances {
        let page = instance.client().get("/_ops/metrics").unwrap().body;
        let page = String::from_utf8(page).unwrap();
        let told = page.lines().find_map(|line| line.strip_prefix("store_round_trips_total "));
        assert!(told.unwrap().parse::<u64>().unwrap() > 100, "an instance was not asked: {told:?}");
    }
}

#[test]
fn boto3_finds_one_store_behind_three_instances() {
    run(&["put_object_test.py"]);
}

/// The suites that the tests of each time have no time for: `cargo xtask scale` runs them.
mod long {
    use super::*;

    #[test]
    fn boto3_finds_one_store_behind_the_proxy_of_the_package() {
        behind(&["put_object_test.py", "read_object_test.py", "listing_test.py"], |clients| {
            let proxy = Nginx::start("object-put", &clients).unwrap();
            (proxy.client().url(), proxy)
        });
    }

    #[test]
    fn sixteen_who_append_at_once_through_three_instances_lose_nothing() {
        run(&["append_test.py"]);
    }

    #[test]
    fn buckets_listings_copies_and_versions_are_the_same_at_three_instances() {
        run(&[
            "access_test.py",
            "bucket_test.py",
            "copy_object_test.py",
            "listing_test.py",
            "read_object_test.py",
            "signature_test.py",
            "versioning_test.py",
        ]);
    }
}
