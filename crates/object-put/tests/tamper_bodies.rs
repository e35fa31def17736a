//! Stored bodies, and rows of parts, that somebody changed: no read gives wrong bytes, and each gives an answer.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;
mod tampering;

use object_put::store::tables::UPLOAD_PARTS;
use service::Draft;
use tampering::change::turned;
use tampering::{Case, FIRST, KEYS, LONG, MODES, Mode, OTHERS, body, refused};
use triptych_core::blobs::{BlobStat, Blobs as _};
use triptych_core::kv::{KeyValue as _, Tx, without_checksum};

#[tokio::test]
async fn no_change_of_a_body_makes_a_read_give_other_bytes() {
    for mode in MODES {
        let case = Case::new(mode).await;
        for key in LONG {
            let answer = case.world.send(&mode.asked(Draft::put(key, &body(key)))).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        let layers = if mode == Mode::Dual { 2 } else { 1 };
        let stats: Vec<BlobStat> = case.blobs.own.list(None, 100).unwrap();
        // Of each length there are two bodies.
        let of = |size: usize| {
            let bytes = size + size.div_ceil(65_536) * layers * 16;
            let of_length = stats.iter().filter(|stat| stat.bytes == bytes as u64);
            let read = |stat: &BlobStat| {
                (stat.id, case.blobs.own.read_small(stat.id, stat.bytes).unwrap())
            };
            let all: Vec<_> = of_length.map(read).collect();
            assert_eq!(all.len(), 2, "{mode:?} {size}");
            all
        };
        for (key, other, size) in [
            (KEYS[0], OTHERS[0], FIRST + 20),
            (KEYS[1], OTHERS[1], FIRST),
            (KEYS[1], OTHERS[1], 20),
            (LONG[0], LONG[1], body(LONG[0]).len()),
        ] {
            let all = of(size);
            let ((id, own), (_, other_body)) = (&all[0], &all[1]);
            let step = if key == LONG[0] { 65_700 } else { 23 };
            let mut changed = turned(own, step);
            if key == LONG[0] {
                // The end of the first record, records in another order, and one alone.
                let record = 65_536 + layers * 16;
                let mut bytes = own.to_vec();
                bytes[record - 1] ^= 1;
                changed.extend([bytes, own[..record].to_vec()]);
                changed.push([&own[record..], &own[..record]].concat());
            }
            changed.push(other_body.to_vec());
            for changed in changed {
                let is_longer = changed.len() > own.len();
                case.blobs.changed.lock().insert(*id, changed.into());
                // Whichever of the two objects it is the body of. What stands behind a whole body is never read.
                let is_seen = !case.look(key, "a body").await || !case.look(other, "a body").await;
                assert!(is_seen || is_longer, "{mode:?} {key}: nothing was seen");
            }
            case.blobs.changed.lock().clear();
            assert!(case.look(key, "nothing more").await, "{mode:?} {key}");
        }
    }
}

#[tokio::test]
async fn no_change_of_a_part_of_an_upload_makes_its_object_give_other_bytes() {
    for mode in MODES {
        let case = Case::new(mode).await;
        let key = "/bkt/parts-3";
        for turn in 0.. {
            let id = case.begin(key).await;
            let tags = case.put_parts(key, &id).await;
            let (place, own) = case.rows(&UPLOAD_PARTS.span(&()))[0].clone();
            // As releases wrote it whose rows had no checksum.
            let unchecked = without_checksum(&place, &own).unwrap();
            let Some(changed) = turned(&unchecked, 3).get(turn).cloned() else {
                break;
            };
            case.put_row(&place, &changed);
            let answer = case.complete(key, &id, &tags).await;
            let target = format!("{key}?uploadId={id}");
            if answer.status == 200 {
                // The object is as long as the record of its part says, and its bytes are those that were put.
                for (query, place) in [("", 0..FIRST + 20), ("?partNumber=1", 0..FIRST)] {
                    let draft = Draft::new("GET", &format!("{key}{query}"), b"");
                    let answer = case.send(&mode.opened(draft)).await;
                    let told = format!("{mode:?}: byte {} of a part, {query}", turn * 3);
                    if matches!(answer.status, 200 | 206) {
                        assert!(answer.body == body(key)[place], "{told}: wrong bytes");
                    } else {
                        refused(&answer, "GET", &told);
                    }
                }
            } else {
                refused(&answer, "POST", &format!("{mode:?}: byte {}", turn * 3));
            }
            case.put_row(&place, &own);
            case.world.send(&Draft::new("DELETE", &target, b"")).await;
            // What is left of the upload is freed later: the next one's is to be the first row.
            let mut tx = Tx::new(&*case.store);
            case.rows(&UPLOAD_PARTS.span(&())).into_iter().for_each(|(place, _)| tx.delete(place));
            assert!(case.store.commit(tx.into_batch([0; 16])).wait().is_ok());
        }
    }
}

#[tokio::test]
async fn an_empty_body_that_is_gone_is_no_empty_object() {
    for mode in MODES {
        let case = Case::new(mode).await;
        assert_eq!(case.world.send(&mode.asked(Draft::put("/bkt/empty", b""))).await.status, 200);
        let get = mode.opened(Draft::new("GET", "/bkt/empty", b""));
        let read = case.send(&get).await;
        assert_eq!((read.status, read.body.len()), (200, 0), "{mode:?}");
        let (place, json) = case.record("/bkt/empty");
        // A whole object that says it is empty, and is as it was but for that.
        let (_, mut others) = case.record(KEYS[0]);
        others["stored"]["size"] = 0.into();
        others["stored"]["parts"]["one"]["bytes"] = 0.into();
        let (other_place, other) = case.record(KEYS[0]);
        case.put_record(&other_place, &others);
        let answer = case.send(&mode.opened(Draft::new("GET", KEYS[0], b""))).await;
        assert_eq!(answer.status, 500, "{mode:?}: {}", answer.text());
        case.put_record(&other_place, &other);
        let ids = case.blobs.own.list(None, 100).unwrap();
        for stat in ids.iter().filter(|stat| stat.bytes <= 32) {
            let _ = case.blobs.own.delete(stat.id).wait();
        }
        case.put_record(&place, &json);
        let answer = case.send(&get).await;
        assert_eq!(
            (answer.status, answer.element("Code").as_deref()),
            (500, Some("InternalError"))
        );
    }
}
