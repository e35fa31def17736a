//! The list of all tables, against the source.

use std::collections::BTreeSet;
use std::path::Path;

use video_api::state::dump::TABLES;

#[test]
fn every_table_has_a_name_and_they_stand_in_the_order_of_their_keys() {
    let ids: Vec<u8> = TABLES.iter().map(|table| table.rows.id()).collect();
    assert!(ids.is_sorted() && BTreeSet::from_iter(&ids).len() == ids.len());
    let names: BTreeSet<_> = TABLES.iter().map(|table| table.name).collect();
    assert_eq!(names.len(), TABLES.len());
    // The source is the list of all tables: a new one must not be forgotten in its resource.
    let mut written = BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap_or_default();
            let pieces = source.split("Table::new(0x").skip(1);
            written.extend(pieces.filter_map(|rest| u8::from_str_radix(rest.get(..2)?, 16).ok()));
        }
    }
    assert!(written.len() > 40, "the source is read as it is written");
    assert_eq!(written, ids.into_iter().collect());
}
