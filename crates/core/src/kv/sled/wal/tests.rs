use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use bytes::Bytes;

use super::frame::{END_BYTES, frame_header};
use super::*;
use crate::disk::SystemDisk;

const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;

/// Keys of one byte, and what they get.
type Group = Vec<(u8, Option<Vec<u8>>)>;

fn rows_of(group: &[(u8, Option<Vec<u8>>)], version: u64) -> Rows {
    let row = |(key, value): &(u8, Option<Vec<u8>>)| {
        let value = value.clone().map(Bytes::from);
        (Bytes::from(vec![*key]), (value, Version(version)))
    };
    group.iter().map(row).collect()
}

fn group() -> impl Strategy<Value = Group> {
    let value = proptest::option::of(vec(any::<u8>(), 0..40));
    btree_map(any::<u8>(), value, 1..5).prop_map(|rows| rows.into_iter().collect())
}

/// A log that begins after version 10 and holds one frame a group, each synced before the next, and the length of its first file before
/// each frame.
fn written(directory: &Path, groups: &[Group]) -> (Wal, Vec<usize>) {
    written_with(directory, groups, |_| true)
}

/// [`written`] with syncs after some of the frames.
fn written_with(
    directory: &Path,
    groups: &[Group],
    is_synced: impl Fn(usize) -> bool,
) -> (Wal, Vec<usize>) {
    let mut wal = start(directory, 1, Version(10));
    let mut ends = vec![FILE_HEADER_BYTES];
    for (number, group) in (11..).zip(groups) {
        let rows = rows_of(group, number);
        let bytes = wal.append(&rows, Version(number), number).unwrap();
        ends.push(ends.last().unwrap() + bytes);
        if is_synced(ends.len() - 1) {
            wal.sync().unwrap();
        }
    }
    (wal, ends)
}

fn model(groups: &[Group]) -> Rows {
    let numbered = (11..).zip(groups);
    numbered.fold(Rows::new(), |mut rows, (number, group)| {
        rows.extend(rows_of(group, number));
        rows
    })
}

fn start(directory: &Path, number: u64, last: Version) -> Wal {
    Wal::start(Arc::new(SystemDisk), directory, Arc::default(), SEGMENT_BYTES, number, last)
        .unwrap()
}

/// The content of a log beyond a version.
#[derive(Debug)]
struct Recovered {
    rows: Rows,
    last: Version,
    lost: Option<LostFrames>,
    end: LogEnd,
}

fn recovered(directory: &Path, applied: u64) -> Result<Recovered, WalError> {
    replayed(&Segment::all(&SystemDisk, directory)?, applied)
}

fn replayed(segments: &[Segment], applied: u64) -> Result<Recovered, WalError> {
    let mut rows = Rows::new();
    let end = replay(segments, Version(applied), &mut |frame| {
        frame.add_to(&mut rows)?;
        Ok(true)
    })?;
    Ok(Recovered { rows, last: end.last, lost: end.lost, end })
}

/// The first segment of a directory.
fn first(directory: &Path) -> PathBuf {
    directory.join(name(1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_file_that_is_cut_or_overwritten_from_anywhere_on_is_named_unless_all_frames_and_the_end_are_there(
        groups in vec(group(), 1..6),
        cut in any::<prop::sample::Index>(),
        fill in proptest::option::of(any::<u8>()),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let (_, ends) = written(directory.path(), &groups);
        let file = first(directory.path());
        let end = ends.last().unwrap() + END_BYTES;
        let cut = FILE_HEADER_BYTES + cut.index(end - FILE_HEADER_BYTES + 40);
        let mut bytes = std::fs::read(&file).unwrap();
        match fill {
            Some(byte) => bytes[cut..].fill(byte),
            None => bytes.truncate(cut),
        }
        std::fs::write(&file, bytes).unwrap();
        let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
        match recovered(directory.path(), 10) {
            // What was overwritten with all that comes behind it looks like a frame that was torn.
            Ok(found) if whole < groups.len() && found.last == Version(10 + whole as u64) => {
                prop_assert!(fill.is_some() && cut >= ends[whole] + 7, "cut at {} of {:?}", cut, ends);
                prop_assert_eq!(found.rows, model(&groups[..whole]));
            }
            Ok(found) => {
                // Bytes that are what was there are no damage, and those of the end that come behind its version no loss.
                prop_assert!(cut >= ends.last().unwrap() + 7, "cut at {} of {:?}", cut, ends);
                prop_assert_eq!(found.rows, model(&groups));
                prop_assert_eq!(found.last, Version(10 + groups.len() as u64));
            }
            Err(error) => prop_assert!(cut < end, "{}", error),
        }
    }

    #[test]
    fn a_flipped_bit_in_any_frame_that_was_synced_is_named(
        groups in vec(group(), 1..6),
        at in any::<prop::sample::Index>(),
        bit in 0..8_u8,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let (_, ends) = written(directory.path(), &groups);
        let file = first(directory.path());
        let mut bytes = std::fs::read(&file).unwrap();
        let at = at.index(*ends.last().unwrap());
        bytes[at] ^= 1 << bit;
        std::fs::write(&file, bytes).unwrap();
        let found = recovered(directory.path(), 10);
        prop_assert!(found.is_err(), "byte {} of {:?}: {:?}", at, ends, found);
    }

    #[test]
    fn a_frame_that_a_power_cut_took_costs_what_was_not_synced_and_else_is_named(
        groups in vec(group(), 1..9),
        synced in any::<prop::sample::Index>(),
        torn in any::<prop::sample::Index>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let synced = synced.index(groups.len() + 1);
        let (_, ends) = written_with(directory.path(), &groups, |frames| frames == synced);
        let torn = torn.index(groups.len());
        let file = first(directory.path());
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[ends[torn]..ends[torn + 1]].fill(0);
        // What stood in that sector before.
        let salt = bytes[8..16].try_into().unwrap();
        let end = LogEndMark::Written.bytes(salt, Version(10 + torn as u64));
        bytes[ends[torn]..ends[torn] + END_BYTES].copy_from_slice(&end);
        std::fs::write(&file, bytes).unwrap();
        match recovered(directory.path(), 10) {
            Ok(found) => {
                prop_assert!(torn >= synced);
                prop_assert_eq!(found.rows, model(&groups[..torn]));
                prop_assert_eq!(found.last, Version(10 + torn as u64));
                // A last frame is told by the end behind it.
                let last = Version(10 + groups.len() as u64);
                prop_assert_eq!(found.lost, Some(LostFrames { kept: found.last, last }));
            }
            Err(error) => prop_assert!(torn < synced, "{}", error),
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..200), salt in any::<[u8; 8]>()) {
        let directory = tempfile::tempdir().unwrap();
        let bytes = [file_header(salt).as_slice(), bytes.as_slice()].concat();
        std::fs::write(first(directory.path()), bytes).unwrap();
        let _ = recovered(directory.path(), 0);
    }

    #[test]
    fn rows_with_a_whole_sum_and_no_sense_are_named(rows in vec(any::<u8>(), 1..60)) {
        let directory = tempfile::tempdir().unwrap();
        let salt = [7; 8];
        let (previous, last, synced) = (Version(0), Version(1), Version(0));
        let versions = FrameVersions { previous, last, synced, time: 0 };
        let head = frame_header(salt, versions, rows.len() as u32, crc32c::crc32c(&rows));
        let bytes = [file_header(salt).as_slice(), &head, &rows, &salt].concat();
        std::fs::write(first(directory.path()), bytes).unwrap();
        let _ = recovered(directory.path(), 0);
    }
}

#[test]
fn the_end_of_a_frame_shares_its_sector_with_the_trailer_and_with_the_header_that_follows() {
    let directory = tempfile::tempdir().unwrap();
    let mut wal = start(directory.path(), 1, Version(0));
    for number in 1..600_u64 {
        let before = wal.end;
        let value = vec![(1, Some(vec![7; (number * 13 % 700) as usize]))];
        wal.append(&rows_of(&value, number), Version(number), 0).unwrap();
        assert_eq!((wal.end - 8) / 512, (wal.end + frame::FRAME_HEADER_BYTES as u64 - 1) / 512);
        assert!(wal.end - before < 900 && wal.end + 60 <= wal.bytes());
    }
    assert_eq!(recovered(directory.path(), 0).unwrap().last, Version(599));
}

#[test]
fn a_power_cut_that_leaves_the_first_sectors_of_a_frame_is_no_damage_whatever_stood_behind_them() {
    for length in 0..600 {
        let groups = [vec![(1, Some(vec![1; 30]))], vec![(2, Some(vec![0; length]))]];
        let written = || {
            let directory = tempfile::tempdir().unwrap();
            let (wal, ends) = written(directory.path(), &groups);
            let mut file = std::fs::read(first(directory.path())).unwrap();
            // Less of it to look through, and all the room that a frame needs.
            file.truncate(ends[2] + 512);
            (directory, wal.salt, ends, file)
        };
        let (directory, salt, ends, file) = written();
        // The file was another segment before, of the same rows; or it is new.
        let (_, _, _, other) = written();
        for before in [other, vec![0; file.len()]] {
            let behind = ends[1] + END_BYTES;
            let mark = LogEndMark::Synced.bytes(salt, Version(11));
            let torn = [&file[..ends[1]], &mark, &before[behind..]].concat();
            for border in (0..ends[2] + END_BYTES).step_by(512).filter(|border| *border > ends[1]) {
                let left = [&file[..border], &torn[border..]].concat();
                std::fs::write(first(directory.path()), left).unwrap();
                let found = recovered(directory.path(), 10);
                let last = found.map(|found| found.last);
                assert!(matches!(last, Ok(Version(11))), "{length} bytes to {border}: {last:?}");
            }
        }
    }
}

#[test]
fn a_segment_that_has_no_frame_yet_tells_that_one_before_it_was_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let (mut wal, ends) = written(directory.path(), &[vec![(1, None)], vec![(2, None)]]);
    wal.sync().unwrap();
    let _next = start(directory.path(), 2, Version(12));
    assert_eq!(recovered(directory.path(), 10).unwrap().last, Version(12));
    let bytes = std::fs::read(first(directory.path())).unwrap();
    std::fs::write(first(directory.path()), &bytes[..ends[1]]).unwrap();
    let cut = recovered(directory.path(), 10);
    assert!(matches!(cut, Err(WalError::Damaged("has lost frames before others"))), "{cut:?}");
}

#[test]
fn a_copy_that_is_made_while_frames_are_written_ends_at_its_last_whole_one() {
    let directory = tempfile::tempdir().unwrap();
    let groups: Vec<Group> = (0..6).map(|key| vec![(key, Some(vec![key; 900]))]).collect();
    let (_, ends) = written(directory.path(), &groups);
    let file = first(directory.path());
    let mut bytes = std::fs::read(&file).unwrap();
    // A page that was read before the fourth frame was written, and one behind it that was read later.
    bytes[ends[3] + 100..ends[4]].fill(0);
    std::fs::write(&file, &bytes).unwrap();
    assert!(recovered(directory.path(), 10).is_err());
    assert_eq!(Segment::end_copy(&SystemDisk, &file).unwrap(), Version(13));
    let found = recovered(directory.path(), 10).unwrap();
    assert_eq!((found.last, found.rows), (Version(13), model(&groups[..3])));
}

#[test]
fn what_the_tree_has_is_not_given_again() {
    let directory = tempfile::tempdir().unwrap();
    let groups = [vec![(1, Some(vec![1]))], vec![(2, Some(vec![2]))], vec![(1, None)]];
    let _wal = written(directory.path(), &groups);
    let found = recovered(directory.path(), 12).unwrap();
    assert_eq!(found.rows, rows_of(&groups[2], 13));
    assert_eq!(recovered(directory.path(), 13).unwrap().rows, Rows::new());
}

/// Frames of a mebibyte each; the tree follows `behind` frames later.
fn fill(directory: &Path, frames: u64, behind: u64) -> (Wal, Vec<SealedSegment>) {
    let mut wal = start(directory, 1, Version::ABSENT);
    let mut sealed = Vec::new();
    for number in 1..=frames {
        let applied = Version(number.saturating_sub(behind));
        assert!(wal.has_space(applied), "frame {number}");
        sealed.extend(wal.roll().unwrap());
        let value = Some(Bytes::from(vec![number as u8; 1024 * 1024]));
        let rows = [(Bytes::from(number.to_string()), (value, Version(number)))];
        wal.append(&rows.into_iter().collect(), Version(number), number).unwrap();
    }
    (wal, sealed)
}

#[test]
fn the_segments_hold_all_since_the_base_and_each_is_read_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (_wal, sealed) = fill(directory.path(), 25, 9);
    let ends: Vec<_> = sealed.iter().map(|segment| (segment.last.0, segment.rows)).collect();
    assert_eq!(ends, [(8, 8), (16, 8), (24, 8)]);
    for applied in [0, 8, 13, 16, 24, 25] {
        let found = recovered(directory.path(), applied).unwrap();
        let versions: Vec<_> = found.rows.values().map(|(_, version)| version.0).collect();
        assert_eq!((found.last, found.end.knows_begin), (Version(25), true));
        assert_eq!(versions.len() as u64, 25 - applied);
        assert!(versions.iter().all(|version| *version > applied));
    }
}

#[test]
fn a_version_that_no_frame_ends_with_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let mut wal = start(directory.path(), 1, Version(10));
    wal.append(&rows_of(&[(1, None)], 13), Version(13), 0).unwrap();
    wal.append(&rows_of(&[(1, None)], 15), Version(15), 0).unwrap();
    let found = |from| recovered(directory.path(), from).unwrap().end;
    for known in [10, 13, 15] {
        assert!(found(known).knows_begin && !found(known).is_at_odds, "{known}");
    }
    for unknown in [11, 14] {
        assert!(found(unknown).is_at_odds, "{unknown}");
    }
    assert!(!found(16).knows_begin);
}

#[test]
fn a_segment_that_was_another_before_holds_nothing_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let spares = Arc::new(Spares::default());
    let (_wal, sealed) = fill(directory.path(), 9, 9);
    spares.add(&SystemDisk, &sealed[0].path).unwrap();
    let disk = Arc::new(SystemDisk);
    let mut wal = Wal::start(disk, directory.path(), spares, SEGMENT_BYTES, 3, Version(9)).unwrap();
    assert!(wal.bytes() > SEGMENT_BYTES, "the file is there already");
    wal.append(&rows_of(&[(1, None)], 10), Version(10), 0).unwrap();
    let found = recovered(directory.path(), 8).unwrap();
    assert_eq!((found.last, found.lost), (Version(10), None));
    assert_eq!(found.rows.len(), 2);
}

#[test]
fn no_more_than_two_segments_wait_for_the_tree() {
    let directory = tempfile::tempdir().unwrap();
    let (wal, _) = fill(directory.path(), 16, 16);
    assert!(!wal.has_space(Version(7)));
    assert!(wal.has_space(Version(8)));
}

#[test]
fn a_lost_file_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let _wal = fill(directory.path(), 20, 9);
    std::fs::remove_file(directory.path().join(name(2))).unwrap();
    let lost = recovered(directory.path(), 0);
    assert!(matches!(lost, Err(WalError::Damaged(_))), "{lost:?}");
    // The tree has what it held.
    assert_eq!(recovered(directory.path(), 16).unwrap().last, Version(20));
}

#[test]
fn a_value_that_looks_like_a_frame_is_a_value() {
    let directory = tempfile::tempdir().unwrap();
    let mut wal = start(directory.path(), 1, Version(10));
    let mut frame = Vec::new();
    let inner = rows_of(&[(1, Some(vec![1]))], 99);
    let (previous, last, synced) = (Version(98), Version(99), Version(98));
    let versions = FrameVersions { previous, last, synced, time: 0 };
    encode(&mut frame, [0; 8], 0, versions, &inner).unwrap();
    let rows = rows_of(&[(2, Some(frame))], 11);
    wal.append(&rows, Version(11), 0).unwrap();
    let file = first(directory.path());
    let mut bytes = std::fs::read(&file).unwrap();
    // Torn at its head, so that the rest of the frame is searched.
    bytes[FILE_HEADER_BYTES + 20] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(recovered(directory.path(), 10).unwrap().last, Version(10));
}

#[test]
fn only_the_files_of_an_older_release_may_have_no_header() {
    let directory = tempfile::tempdir().unwrap();
    let turn = directory.path().join(TURNS[0]);
    std::fs::write(&turn, "").unwrap();
    assert!(Segment::turns(&SystemDisk, directory.path()).unwrap().is_empty());
    std::fs::write(&turn, [0; 100]).unwrap();
    assert!(Segment::turns(&SystemDisk, directory.path()).is_err());
    std::fs::write(first(directory.path()), "").unwrap();
    assert!(Segment::all(&SystemDisk, directory.path()).is_err());
}

/// The header of a file of an older format, the salt of the file, and frames of one row each as they are today, without their trailers.
fn older_file(
    magic: [u8; 8],
    versions: std::ops::RangeInclusive<u64>,
) -> (Vec<u8>, [u8; 8], Vec<Vec<u8>>) {
    let salt = [5; 8];
    let mut header = [magic, salt].concat();
    header.extend(crc32c::crc32c(&header).to_be_bytes());
    let frame = |version| {
        let mut frame = Vec::new();
        let at = FrameVersions {
            previous: Version(version - 1),
            last: Version(version),
            synced: Version(0),
            time: 0,
        };
        encode(&mut frame, salt, 0, at, &rows_of(&[(1, Some(vec![1]))], version)).unwrap();
        frame.truncate(frame.len() - salt.len());
        frame
    };
    (header, salt, versions.map(frame).collect())
}

/// A file of the first format: frames that did not name what was synced.
fn plain_file(versions: std::ops::RangeInclusive<u64>) -> Vec<u8> {
    let (mut bytes, salt, frames) = older_file(*b"kvjrnl01", versions);
    for today in frames {
        let (head, rows) = today.split_at(frame::FRAME_HEADER_BYTES);
        let said = [&head[..16], &head[32..40]].concat();
        let sum = crc32c::crc32c_append(crc32c::crc32c(&salt), &said);
        bytes.extend([said, sum.to_be_bytes().to_vec(), rows.to_vec()].concat());
    }
    bytes
}

fn turns(directory: &Path) -> Result<Recovered, WalError> {
    replayed(&Segment::turns(&SystemDisk, directory)?, 10)
}

#[test]
fn a_log_without_trailers_is_read_and_has_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let (header, salt, frames) = older_file(*b"kvjrnl04", 11..=13);
    let frames = frames.concat();
    let end = LogEndMark::Written.bytes(salt, Version(13));
    let file = first(directory.path());
    std::fs::write(&file, [&header[..], &frames, &end].concat()).unwrap();
    assert_eq!(recovered(directory.path(), 10).unwrap().last, Version(13));
    std::fs::write(&file, [&header[..], &frames].concat()).unwrap();
    let cut = recovered(directory.path(), 10);
    assert!(matches!(cut, Err(WalError::Damaged("has lost its end"))), "{cut:?}");
}

#[test]
fn a_log_of_the_first_format_is_read_and_any_break_in_it_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(TURNS[0]);
    let bytes = plain_file(11..=13);
    std::fs::write(&file, &bytes).unwrap();
    assert_eq!(turns(directory.path()).unwrap().last, Version(13));
    let frame = (bytes.len() - FILE_HEADER_BYTES) / 3;
    let mut torn = bytes;
    torn[FILE_HEADER_BYTES + frame + 30] ^= 1;
    std::fs::write(&file, torn).unwrap();
    let broken = turns(directory.path());
    assert!(matches!(broken, Err(WalError::Damaged(_))), "{broken:?}");
}
