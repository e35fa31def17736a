//! Sessions: what is taken, what is refused, and what is left in the store.

use super::*;
use triptych_core::blobs::BlobId;
use triptych_core::error::{Coded, Row};
use triptych_core::id::SeededIds;
use triptych_core::kv::{self, KeyValue, Memory, Span};

const K: u64 = PIECE_BYTES_MULTIPLE;
const NEW_SESSION: NewSession<'_> = NewSession {
    operation: "videos.insert",
    query: "part=snippet",
    opening: "alice",
    metadata: b"{}",
    media_type: Some("video/mp4"),
    file_name: None,
    total: Some(3 * K),
    bytes_max: 10 * K,
};

fn session(received: u64, total: Option<u64>) -> Session {
    Session {
        operation: String::new(),
        query: String::new(),
        opening: String::new(),
        media_type: None,
        file_name: None,
        total,
        received,
        media: [0; 16],
        opened: 0,
        finished: None,
    }
}

fn run<T>(
    store: &Memory,
    mut body: impl FnMut(&mut Tx<'_>, &mut dyn Ids) -> Result<T, SessionError>,
) -> Result<T, SessionError> {
    kv::run_blocking(store, &mut SeededIds::from_number(1), 3, |tx, ids| body(tx, ids))
}

#[test]
fn only_the_next_bytes_are_kept_whatever_comes_before_them_and_gaps_store_nothing() {
    let half = session(K, Some(3 * K + 1));
    let again = |repeated, bytes_max, total| {
        Ok(Decision::Receive(ExpectedBody { first: K, repeated, bytes_max, exact: true, total }))
    };
    let receive = |first, bytes_max, total| {
        Ok(Decision::Receive(ExpectedBody { first, repeated: 0, bytes_max, exact: true, total }))
    };
    let report = Ok(Decision::Progress { received: K });
    for (range, length, expected) in [
        (format!("bytes {K}-{}/{}", 2 * K - 1, 3 * K + 1), Some(K), receive(K, K, Some(3 * K + 1))),
        (
            format!("bytes {K}-{}/{}", 3 * K, 3 * K + 1),
            None,
            receive(K, 2 * K + 1, Some(3 * K + 1)),
        ),
        (format!("bytes 0-{}/{}", 2 * K - 1, 3 * K + 1), Some(2 * K), again(K, K, Some(3 * K + 1))),
        (
            format!("bytes 9-{}/{}", 3 * K, 3 * K + 1),
            None,
            again(K - 9, 2 * K + 1, Some(3 * K + 1)),
        ),
        (format!("bytes 0-{}/{}", K - 1, 3 * K + 1), Some(K), report.clone()),
        (
            format!("bytes 0-{}/{}", K + 9, 3 * K + 1),
            Some(K + 10),
            Err(SessionError::NotAMultiple { bytes: K + 10 }),
        ),
        (format!("bytes {}-{}/{}", 2 * K, 3 * K, 3 * K + 1), Some(K + 1), report.clone()),
        (format!("bytes */{}", 3 * K + 1), Some(0), report.clone()),
        ("bytes */*".to_owned(), Some(0), report),
        (
            format!("bytes {K}-{}/{}", K + 9, 3 * K + 1),
            Some(10),
            Err(SessionError::NotAMultiple { bytes: 10 }),
        ),
        (
            format!("bytes {K}-{}/{}", 2 * K - 1, 3 * K + 1),
            Some(5),
            Err(SessionError::LengthMismatch { range: K, body: 5 }),
        ),
        (
            format!("bytes */{}", 3 * K),
            None,
            Err(SessionError::TotalChanged { before: 3 * K + 1, now: 3 * K }),
        ),
        (
            format!("bytes {K}-{}/*", 5 * K - 1),
            None,
            Err(SessionError::TotalChanged { before: 3 * K + 1, now: 5 * K }),
        ),
        ("pages 1-2/3".to_owned(), None, Err(SessionError::ContentRange)),
    ] {
        assert_eq!(half.decide(Some(&range), length, 10 * K), expected, "{range}");
    }
    let fresh = session(0, None);
    assert_eq!(
        fresh.decide(Some(&format!("bytes 0-9/{}", 11 * K)), None, 10 * K),
        Err(SessionError::TooLarge { bytes_max: 10 * K })
    );
    assert_eq!(fresh.decide(Some("bytes */0"), Some(0), 10 * K), Ok(Decision::Finish));
    // All are there, and the end failed: the last piece again, or the whole, is the end again.
    for (range, length) in
        [(Some("bytes */7"), 0), (Some("bytes */*"), 0), (Some("bytes 0-6/7"), 7), (None, 7)]
    {
        let decision = session(7, Some(7)).decide(range, Some(length), 10 * K);
        assert_eq!(decision, Ok(Decision::Finish), "{range:?}");
    }
}

#[test]
fn a_body_without_a_range_is_the_whole() {
    let expected = |bytes_max, exact, total| {
        Ok(Decision::Receive(ExpectedBody { first: 0, repeated: 0, bytes_max, exact, total }))
    };
    assert_eq!(session(0, None).decide(None, Some(9), K), expected(9, true, Some(9)));
    assert_eq!(session(0, None).decide(None, None, K), expected(K, false, None));
    assert_eq!(session(0, Some(5)).decide(None, None, K), expected(5, true, Some(5)));
    assert_eq!(
        session(0, Some(5)).decide(None, Some(9), K),
        Err(SessionError::LengthMismatch { range: 5, body: 9 })
    );
    assert_eq!(
        session(3, Some(5)).decide(None, Some(5), K),
        Ok(Decision::Progress { received: 3 })
    );
    assert_eq!(
        session(0, None).decide(None, Some(K + 1), K),
        Err(SessionError::TooLarge { bytes_max: K })
    );
}

#[test]
fn a_session_grows_finishes_once_and_repeats_its_answer() {
    let (store, now) = (Memory::new(), Timestamp::from_seconds(1_000));
    let id = run(&store, |tx, ids| open(tx, ids, now, &NEW_SESSION)).unwrap();
    let piece = |number, bytes| Piece { blob: BlobId([number; 32]), bytes };
    assert_eq!(run(&store, |tx, _| advance(tx, &id, now, 0, piece(1, K), None)), Ok(K));
    assert_eq!(
        run(&store, |tx, _| advance(tx, &id, now, 0, piece(2, K), None)),
        Ok(K),
        "the slower of two writers changes nothing"
    );
    assert_eq!(run(&store, |tx, _| advance(tx, &id, now, K, piece(3, 2 * K), None)), Ok(3 * K));
    let long = vec![b'x'; SLICE_BYTES * 2 + 1];
    run(&store, |tx, _| {
        let session = load(tx, &id, now)?;
        finish(tx, &id, &session, 200, &long);
        Ok(())
    })
    .unwrap();
    let (decision, answer, metadata, pieces) = run(&store, |tx, _| {
        let session = load(tx, &id, now)?;
        let pieces: Vec<_> = PIECES
            .all(tx, &session.media, 9)?
            .into_iter()
            .map(|(key, piece)| (key.1, piece.bytes))
            .collect();
        Ok((
            session.decide(Some("bytes */*"), None, K)?,
            text(tx, &id, SessionText::Response)?,
            text(tx, &id, SessionText::Metadata)?,
            pieces,
        ))
    })
    .unwrap();
    assert_eq!(decision, Decision::Replay { status: 200 });
    assert_eq!((answer, metadata.as_slice()), (long, b"{}".as_slice()));
    assert_eq!(pieces, [(0, K), (K, 2 * K)]);
}

#[test]
fn a_session_ends_after_a_week_and_its_pieces_become_garbage() {
    let (store, opened) = (Memory::new(), Timestamp::from_seconds(1_000));
    let id = run(&store, |tx, ids| open(tx, ids, opened, &NEW_SESSION)).unwrap();
    run(&store, |tx, _| {
        advance(tx, &id, opened, 0, Piece { blob: BlobId([1; 32]), bytes: K }, None)
    })
    .unwrap();
    let (before, after) = (opened.plus(LIFETIME - Duration::from_secs(1)), opened.plus(LIFETIME));
    assert!(run(&store, |tx, _| load(tx, &id, before)).is_ok());
    assert_eq!(run(&store, |tx, _| load(tx, &id, after)), Err(SessionError::Absent));
    run(&store, |tx, _| expire(tx, before, 10)).unwrap();
    assert!(run(&store, |tx, _| load(tx, &id, before)).is_ok(), "nothing is removed early");
    run(&store, |tx, _| expire(tx, after, 10)).unwrap();
    let rows = store.scan(&Span::default(), 10).unwrap().rows;
    let tables: Vec<u8> = rows.iter().filter_map(|(key, _)| key.first().copied()).collect();
    assert_eq!(tables, [0x83, 0x84], "what is left is the sweep's");
}

#[test]
fn an_upload_that_says_it_is_too_long_opens_no_session() {
    let new = NewSession { total: Some(11 * K), ..NEW_SESSION };
    let refused = run(&Memory::new(), |tx, ids| open(tx, ids, Timestamp::EPOCH, &new));
    assert_eq!(refused, Err(SessionError::TooLarge { bytes_max: 10 * K }));
    assert_eq!(SessionError::TooLarge { bytes_max: 1 }.row(), Row::of(413, "uploadTooLarge"));
}
