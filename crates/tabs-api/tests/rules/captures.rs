//! Pictures of pages, and the parts of them that a call may ask for.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::bench::Bench;

/// The width and height that a data URL of PNG names.
fn size(picture: &Value) -> Option<(u32, u32)> {
    let bytes = STANDARD.decode(picture.as_str()?.split_once(',')?.1).ok()?;
    let side = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    Some((side(16)?, side(20)?))
}

#[test]
fn a_picture_shows_the_part_that_is_asked_for_as_far_as_it_is_on_the_page() {
    let mut bench = Bench::new();
    bench.call("tabs.update", json!([{ "url": "http://a.test/a.html" }]));
    let tab = bench.call("tabs.get", json!([bench.first]));
    let side = |name: &str| u32::try_from(tab[name].as_i64().unwrap()).unwrap();
    let (width, height) = (side("width"), side("height"));
    let part = |x: u32, y: u32, width: u32, height: u32| json!({ "x": x, "y": y, "width": width, "height": height });
    for (options, expected) in [
        (json!({}), (width, height)),
        (json!({ "rect": part(10, 20, 80, 60) }), (80, 60)),
        (json!({ "rect": part(10, 20, 80, 60), "scale": 2 }), (160, 120)),
        (json!({ "scale": 2 }), (width, height)),
        (json!({ "rect": null, "scale": null }), (width, height)),
        (json!({ "rect": part(width - 92, 20, 800, 60) }), (92, 60)),
    ] {
        let mut asked = options.clone();
        asked["format"] = "png".into();
        bench.wait(std::time::Duration::from_secs(1));
        let picture = bench.call("tabs.captureVisibleTab", json!([asked]));
        assert_eq!(size(&picture), Some(expected), "{options}");
    }
    bench.wait(std::time::Duration::from_secs(1));
    let outside = json!([{ "rect": part(5_000, 5_000, 8, 6) }]);
    let refusal = bench.refused("tabs.captureVisibleTab", outside);
    assert_eq!(refusal, "Failed to capture tab: image readback failed");
}

#[test]
fn a_part_of_a_page_that_is_none_is_refused_by_the_fault_that_it_has() {
    let mut bench = Bench::new();
    for (options, fault) in [
        (json!({ "rect": {} }), "Error at property 'rect': Missing required property 'height'."),
        (
            json!({ "rect": 3 }),
            "Error at property 'rect': Invalid type: expected extensionTypes.Rect, found integer.",
        ),
        (
            json!({ "rect": { "x": -1 } }),
            "Error at property 'rect': Error at property 'x': Value must be at least 0.",
        ),
        (
            json!({ "rect": { "x": 10.5 } }),
            "Error at property 'rect': Error at property 'x': Invalid type: expected integer, found number.",
        ),
        (json!({ "rect": { "z": 1 } }), "Error at property 'rect': Unexpected property: 'z'."),
        (json!({ "scale": -1 }), "Error at property 'scale': Value must be at least 0."),
        (
            json!({ "scale": "2" }),
            "Error at property 'scale': Invalid type: expected number, found string.",
        ),
    ] {
        let refusal = bench.refused("tabs.captureVisibleTab", json!([options]));
        let wanted = format!("Error at parameter 'options': {fault}");
        assert!(refusal.ends_with(&wanted), "{refusal}");
    }
}
