//! Pages, and what is told between them.

use std::time::Duration;

use serde_json::json;

use crate::bench::{Bench, GESTURE};

#[test]
fn what_is_to_be_taken_out_of_frames_is_looked_at_after_the_frames() {
    let mut bench = Bench::new();
    let tab = bench.open("http://a.test/a.html");
    let both = json!({ "tabId": tab, "frameIds": [0], "documentIds": ["x"] });
    let injection = json!([{ "target": both, "files": ["x"] }]);
    let removal = bench.refused("scripting.removeCSS", injection.clone());
    assert_eq!(removal, "Cannot specify both 'frameIds' and 'documentIds'.");
    assert!(bench.refused("scripting.insertCSS", injection).starts_with("Could not load file"));
}

#[test]
fn ports_of_a_page_that_is_left_close_in_the_order_in_which_they_were_opened() {
    let mut bench = Bench::new();
    let page = bench.open("http://a.test/a.html");
    let opened: Vec<_> = (0..120).map(|number| format!("port {number}")).collect();
    for port in &opened {
        let call = json!({ "op": "tabs.connect", "args": [page], "port": port });
        bench.lab.call(bench.now, serde_json::from_value(call).unwrap());
    }
    let (_, events) = bench.step("tabs.update", json!([page, { "url": "http://b.test/a.html" }]));
    let ends = events.iter().filter(|(name, _)| name == "port.onDisconnect");
    assert_eq!(ends.map(|(_, args)| args[0].as_str().unwrap()).collect::<Vec<_>>(), opened);
}

#[test]
fn what_a_page_tells_or_asks_that_is_not_in_front_waits_for_nobody() {
    let mut bench = Bench::new();
    let tab =
        bench.call("tabs.create", json!([{ "url": "http://a.test/a.html", "active": false }]));
    let tab = tab["id"].as_i64().unwrap();
    let tells = "setTimeout(()=>{alert(1);document.title=\"after\"},60);0";
    let asks = "setTimeout(()=>{document.title=String(confirm(1))},60);0";
    for (code, title) in [(tells, "after"), (asks, "false")] {
        bench.call(GESTURE, json!([tab, code]));
        bench.wait(Duration::from_secs(1));
        assert_eq!(bench.call("tabs.get", json!([tab]))["title"], title);
    }
    bench.call("tabs.update", json!([tab, { "active": true }]));
    bench.call(GESTURE, json!([tab, tells]));
    bench.wait(Duration::from_secs(1));
    assert_eq!(bench.call("tabs.get", json!([tab]))["title"], "false");
}
