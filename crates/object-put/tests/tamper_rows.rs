//! Stored rows that somebody changed: no read gives wrong bytes, and each gives an answer.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;
mod tampering;

use bytes::Bytes;
use object_put::maintenance::verify::verify;
use object_put::store::tables::{
    ACCESS_KEYS, BUCKET_CONFIGS, BUCKETS, CURRENT, KMS_KEYS, PARTS, UPLOAD_PARTS, UPLOADS,
};
use serde_json::Value;
use service::Draft;
use tampering::change::{changes, exchanges, turned};
use tampering::{Case, KEYS, MODES, Mode, OTHERS};
use triptych_core::kv::{Span, without_checksum};

#[tokio::test]
async fn no_change_of_a_record_makes_a_read_give_other_bytes() {
    for mode in MODES {
        let case = Case::new(mode).await;
        for (key, other) in KEYS.into_iter().zip(OTHERS) {
            assert!(case.look(key, "nothing").await, "{mode:?} {key}");
            let (place, json) = case.record(key);
            let (_, others) = case.record(other);
            let all = changes(&json).into_iter().chain(exchanges(&json, &others));
            for changed in all.filter(|changed| *changed != json) {
                case.put_record(&place, &changed);
                case.look(key, &changed.to_string()).await;
            }
            case.put_record(&place, &json);
            assert!(case.look(key, "nothing more").await, "{mode:?} {key}");
        }
    }
}

#[tokio::test]
async fn no_change_of_a_list_of_parts_makes_a_read_give_other_bytes() {
    for mode in MODES {
        let case = Case::new(mode).await;
        let rows = case.rows(&PARTS.span(&()));
        let list = |key: &str| {
            let (_, json) = case.record(key);
            let number = json["stored"]["parts"]["chunks"]["list"].as_u64().unwrap();
            let place = PARTS.key(&(number, 0));
            let (_, row) = rows.iter().find(|(own, _)| *own == place).unwrap();
            (place.clone(), without_checksum(&place, row).unwrap())
        };
        let ((place, own), (_, other)) = (list(KEYS[1]), list(OTHERS[1]));
        let row = (&place, &own[..]);
        // Every byte of the list, of which none but those of digests may be another one unseen.
        let mut unseen = 0;
        for changed in turned(&own, 1) {
            unseen += u32::from(case.look_while(KEYS[1], "a turned bit", row, &changed).await);
        }
        assert!(unseen <= 2 * (16 + 1 + 2 + 32), "{mode:?}: {unseen} bytes are not looked at");
        for place in 1..own.len() {
            // The end of a list with the start of another's.
            let changed = [&other[..place], &own[place..]].concat();
            case.look_while(KEYS[1], "another's start", row, &changed).await;
        }
        assert!(!case.look_while(KEYS[1], "another's list", row, &other).await);
        assert!(case.look(KEYS[1], "nothing more").await, "{mode:?}");
    }
}

#[tokio::test]
async fn no_change_of_a_record_is_shown_in_a_list_or_a_head() {
    let case = Case::new(Mode::Service).await;
    for (key, other) in KEYS.into_iter().zip(OTHERS) {
        let (place, json) = case.record(key);
        let (other_place, others) = case.record(other);
        let row = |place: &Bytes| {
            case.rows(&CURRENT.span(&())).into_iter().find(|(own, _)| own == place).unwrap().1
        };
        let own = row(&place);
        // Size and bytes together, which fit each other.
        let mut grown = json.clone();
        grown["stored"]["size"] = 221.into();
        for bytes in ["/stored/parts/one/bytes", "/stored/parts/chunks/bytes"] {
            if let Some(bytes) = grown.pointer_mut(bytes) {
                *bytes = 221.into();
            }
        }
        let all = changes(&json).into_iter().chain(exchanges(&json, &others)).chain([grown]);
        let records = all.filter(|changed| *changed != json).map(|changed| {
            // Behind the checksum of what was there.
            [&own[..own.len() - json.to_string().len()], changed.to_string().as_bytes()].concat()
        });
        // The row of another object says what is right there, and not here.
        for changed in records.chain([row(&other_place).to_vec()]).chain(turned(&own, 1)) {
            case.put_row(&place, &changed);
            let told = String::from_utf8_lossy(&changed).into_owned();
            let list = case.send(&Draft::new("GET", "/bkt?list-type=2", b"")).await;
            assert_eq!(list.status, 500, "{told}: {}", list.text());
            assert_eq!(case.send(&Draft::new("HEAD", key, b"")).await.status, 500, "{told}");
        }
        case.put_row(&place, &own);
        assert!(case.look(key, "nothing more").await);
    }
}

#[tokio::test]
async fn no_change_of_a_checked_list_of_parts_goes_unseen() {
    let case = Case::new(Mode::Service).await;
    let (_, json) = case.record(KEYS[1]);
    let number = json["stored"]["parts"]["chunks"]["list"].as_u64().unwrap();
    let place = PARTS.key(&(number, 0));
    let rows = case.rows(&PARTS.span(&()));
    let (_, own) = rows.iter().find(|(own, _)| *own == place).unwrap();
    for changed in turned(own, 1) {
        assert!(!case.look_while(KEYS[1], "a turned bit", (&place, own), &changed).await);
    }
    assert!(case.look(KEYS[1], "nothing more").await);
}

#[tokio::test]
async fn no_change_of_a_key_of_the_embedded_key_service_makes_a_read_give_other_bytes() {
    for mode in [Mode::Kms, Mode::BucketKey, Mode::Dual] {
        let case = Case::new(mode).await;
        let (_, json) = case.record(KEYS[0]);
        let arn = json["stored"]["encryption"]["keyManagement"]["key"].to_string();
        // As releases wrote them whose rows had no checksum.
        let rows = case.rows(&KMS_KEYS.span(&())).into_iter().map(|(place, value)| {
            let value = without_checksum(&place, &value).unwrap();
            (place, value)
        });
        let rows: Vec<_> = rows.collect();
        for (place, value) in &rows {
            let json: Value = serde_json::from_slice(&value[1..]).unwrap();
            let is_own = arn.contains(json["arn"]["id"].as_str().unwrap_or("-"))
                || arn.contains(&json["id"].to_string().replace('"', ""));
            for (other, others) in &rows {
                let others: Value = serde_json::from_slice(&others[1..]).unwrap();
                let all = if other == place { changes(&json) } else { exchanges(&json, &others) };
                for changed in all.into_iter().filter(|_| is_own) {
                    case.put_record(place, &changed);
                    case.look(KEYS[0], &format!("key {changed}")).await;
                }
            }
            case.put_row(place, value);
        }
        assert!(case.look(KEYS[0], "nothing more").await, "{mode:?}");
    }
}

/// A store with one of each row that is read on the way of a request, and the request.
async fn named_rows() -> (Case, Vec<(&'static str, Span, Draft)>) {
    let case = Case::new(Mode::Kms).await;
    let id = case.begin("/bkt/open").await;
    case.put_parts("/bkt/open", &id).await;
    case.world.send(&Draft::document("/bkt?cors", CORS)).await;
    let parts = || Draft::new("GET", &format!("/bkt/open?uploadId={id}"), b"");
    let object = || Draft::new("GET", KEYS[0], b"");
    let rows = vec![
        ("bucket", BUCKETS.span(&()), object()),
        ("configuration", BUCKET_CONFIGS.span(&()), Draft::new("GET", "/bkt?cors", b"")),
        ("upload", UPLOADS.span(&()), parts()),
        ("part", UPLOAD_PARTS.span(&()), parts()),
        (
            "key of the key service",
            KMS_KEYS.span(&()),
            Mode::Kms.asked(Draft::put("/bkt/new", b"new")),
        ),
        ("access key", ACCESS_KEYS.span(&()), object()),
    ];
    (case, rows)
}

const CORS: &[u8] = b"<CORSConfiguration><CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>";

#[tokio::test]
async fn no_change_of_a_row_on_the_way_of_a_request_goes_unseen() {
    let (case, named) = named_rows().await;
    for (name, span, draft) in named {
        assert_eq!(case.send(&draft).await.status, 200, "{name}");
        let rows = case.rows(&span);
        assert!(!rows.is_empty(), "{name}");
        let mut refusals = 0;
        for (place, own) in &rows {
            let others = rows.iter().filter(|(other, _)| other != place);
            let others = others.map(|(_, value)| value.to_vec());
            // What cuts the mark of a checksum off is another record, and none.
            for changed in turned(own, 11).into_iter().chain(others) {
                case.put_row(place, &changed);
                let answer = case.send(&draft).await;
                assert!([200, 500].contains(&answer.status), "{name}: {}", answer.text());
                refusals += u32::from(answer.status == 500);
                let report = verify(&*case.store, &*case.blobs, None, &mut |_| {}).unwrap();
                assert!(report.faults > 0, "{name}: {changed:?} is not seen");
            }
            case.put_row(place, own);
        }
        // Of some tables other rows are not read by this request.
        assert!(refusals > 5, "{name}: {refusals} refusals");
        assert_eq!(case.send(&draft).await.status, 200, "{name}");
    }
    let report = verify(&*case.store, &*case.blobs, None, &mut |_| {}).unwrap();
    assert_eq!(report.faults, 0);
}

#[tokio::test]
async fn every_row_that_is_written_has_a_checksum() {
    let (case, _) = named_rows().await;
    case.world.send(&Draft::new("DELETE", KEYS[0], b"")).await;
    for (place, value) in case.rows(&Span::default()) {
        assert!(without_checksum(&place, &value).is_some_and(|plain| plain != value), "{place:?}");
    }
}

#[tokio::test]
async fn rows_that_were_never_checked_are_read_and_checked_once_they_are_written() {
    let (case, named) = named_rows().await;
    let rows = case.rows(&Span::default());
    for (place, value) in &rows {
        case.put_row(place, &without_checksum(place, value).unwrap());
    }
    for (name, _, draft) in &named {
        assert_eq!(case.send(draft).await.status, 200, "{name}");
    }
    for key in KEYS {
        assert!(case.look(key, "nothing").await);
    }
    let report = verify(&*case.store, &*case.blobs, None, &mut |_| {}).unwrap();
    assert_eq!(report.faults, 0);
    let bucket = BUCKETS.key(&"bkt".to_owned());
    let is_checked = |key: &Bytes| {
        let (_, value) =
            case.rows(&Span::default()).into_iter().find(|(own, _)| own == key).unwrap();
        without_checksum(key, &value).is_some_and(|plain| plain != value)
    };
    assert!(!is_checked(&bucket));
    let enabled = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
    assert_eq!(case.send(&Draft::document("/bkt?versioning", enabled)).await.status, 200);
    assert!(is_checked(&bucket));
}
