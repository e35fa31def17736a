//! Steps of a sequence: requests by all ways to a bucket, and what happens to the service.

use proptest::prelude::*;

use crate::encryption::mode;
use crate::{KEYS, WAYS, ZONAL_WAYS};

/// A request, or what happens to the service.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Put {
        key: usize,
        size: usize,
        fill: u8,
        mode: usize,
        way: usize,
    },
    PutIfAbsent {
        key: usize,
        fill: u8,
    },
    PutIfMatch {
        key: usize,
        fill: u8,
        is_current: bool,
    },
    Delete {
        key: usize,
        way: usize,
    },
    /// Another account comes through an access point: its policy alone lets nobody in.
    Guest {
        key: usize,
        way: usize,
        writes: bool,
    },
    DeleteVersion {
        key: usize,
        place: usize,
    },
    Versioning {
        enabled: bool,
    },
    Begin {
        key: usize,
        mode: usize,
    },
    /// A part of one of the uploads.
    Part {
        upload: usize,
        number: u32,
        size: usize,
        fill: u8,
    },
    /// A part whose body is an object's.
    CopyPart {
        upload: usize,
        number: u32,
        key: usize,
    },
    /// A completion with the first of its parts.
    Complete {
        upload: usize,
        parts: usize,
    },
    Abort {
        upload: usize,
    },
    /// The clock moves on, and what nobody needs is freed.
    Clock {
        hours: u64,
    },
    Restart,
    /// A PUT with an offset in the directory bucket, within a session: at the end of the object or elsewhere.
    Append {
        key: usize,
        at_end: bool,
        size: usize,
        fill: u8,
        way: usize,
    },
    /// A plain PUT there.
    PutInDirectory {
        key: usize,
        fill: u8,
        way: usize,
    },
    DeleteInDirectory {
        key: usize,
        way: usize,
    },
    /// A PUT in the directory bucket within a session of another way to it.
    Stray {
        key: usize,
        way: usize,
    },
    /// An append that is cut off with the whole service: it happened or it did not.
    KillAppend {
        key: usize,
        large: bool,
        share: usize,
        turns: usize,
    },
    /// The clock moves by so many seconds: sessions end.
    Wait {
        seconds: u64,
    },
    /// A PUT that is cut off at some place of it, with the whole service: it happened or it did not.
    Kill {
        key: usize,
        large: bool,
        share: usize,
        turns: usize,
    },
}

/// Any step, those that make something more often than others.
pub(crate) fn step() -> impl Strategy<Value = Step> {
    let key = || 0..KEYS.len();
    let way = || 0..WAYS.len();
    let zonal = || 0..ZONAL_WAYS.len();
    prop_oneof![
        4 => (key(), prop_oneof![0_usize..100, Just(70_000), Just(140_000)], any::<u8>(), mode(), way())
            .prop_map(|(key, size, fill, mode, way)| Step::Put { key, size, fill, mode, way }),
        1 => (key(), 1..WAYS.len(), any::<bool>())
            .prop_map(|(key, way, writes)| Step::Guest { key, way, writes }),
        1 => (key(), zonal()).prop_map(|(key, way)| Step::Stray { key, way }),
        3 => (key(), mode()).prop_map(|(key, mode)| Step::Begin { key, mode }),
        8 => (0_usize..4, 1_u32..5, prop_oneof![8_usize..100, Just(70_000)], any::<u8>())
            .prop_map(|(upload, number, size, fill)| Step::Part { upload, number, size, fill }),
        2 => (0_usize..4, 1_u32..5, key())
            .prop_map(|(upload, number, key)| Step::CopyPart { upload, number, key }),
        4 => (0_usize..4, 1_usize..5).prop_map(|(upload, parts)| Step::Complete { upload, parts }),
        1 => (0_usize..4).prop_map(|upload| Step::Abort { upload }),
        1 => (1_u64..100).prop_map(|hours| Step::Clock { hours }),
        2 => (key(), any::<u8>()).prop_map(|(key, fill)| Step::PutIfAbsent { key, fill }),
        2 => (key(), any::<u8>(), any::<bool>())
            .prop_map(|(key, fill, is_current)| Step::PutIfMatch { key, fill, is_current }),
        3 => (key(), way()).prop_map(|(key, way)| Step::Delete { key, way }),
        2 => (key(), 0_usize..4).prop_map(|(key, place)| Step::DeleteVersion { key, place }),
        1 => any::<bool>().prop_map(|enabled| Step::Versioning { enabled }),
        1 => Just(Step::Restart),
        5 => (key(), prop_oneof![4 => Just(true), 1 => Just(false)], prop_oneof![1_usize..100, Just(140_000)], any::<u8>(), zonal())
            .prop_map(|(key, at_end, size, fill, way)| Step::Append { key, at_end, size, fill, way }),
        1 => (key(), any::<u8>(), zonal())
            .prop_map(|(key, fill, way)| Step::PutInDirectory { key, fill, way }),
        1 => (key(), zonal()).prop_map(|(key, way)| Step::DeleteInDirectory { key, way }),
        1 => (key(), any::<bool>(), prop_oneof![0_usize..100, Just(100)], 0_usize..60)
            .prop_map(|(key, large, share, turns)| Step::KillAppend { key, large, share, turns }),
        1 => (0_u64..400).prop_map(|seconds| Step::Wait { seconds }),
        2 => (key(), any::<bool>(), prop_oneof![0_usize..100, Just(100)], 0_usize..60)
            .prop_map(|(key, large, share, turns)| Step::Kill { key, large, share, turns }),
    ]
}
