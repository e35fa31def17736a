//! One reader of all committed corpora: the tests of each service replay theirs on stable.

use std::path::Path;

/// The most bytes of an input that are cut and changed.
const NEIGHBOURS_MAX: usize = 2_000;

/// Runs every input of a target's corpus, and cheap neighbours of what a client sends: cut at every place, and with every 7th byte
/// changed.
pub(crate) fn replay(target: &str, run: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut inputs = 0;
    for entry in std::fs::read_dir(&corpus).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        run(&bytes);
        for place in 0..bytes.len().min(NEIGHBOURS_MAX) {
            run(bytes.get(..place).unwrap_or_default());
            if place % 7 == 0 {
                let mut changed = bytes.clone();
                if let Some(byte) = changed.get_mut(place) {
                    *byte ^= 0x15;
                }
                run(&changed);
            }
        }
        inputs += 1;
    }
    assert!(inputs >= 3, "{target} has only {inputs} inputs");
}
