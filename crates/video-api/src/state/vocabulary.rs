//! Words of generated titles and texts: few are frequent and many are rare, as in real ones.

use triptych_core::id::Ids;

const ADJECTIVES: [&str; 32] = [
    "best",
    "quick",
    "simple",
    "hidden",
    "modern",
    "quiet",
    "wild",
    "fresh",
    "ancient",
    "bright",
    "strange",
    "gentle",
    "complete",
    "electric",
    "frozen",
    "golden",
    "honest",
    "invisible",
    "little",
    "lucky",
    "magnetic",
    "narrow",
    "odd",
    "perfect",
    "portable",
    "rapid",
    "secret",
    "silent",
    "tiny",
    "urban",
    "velvet",
    "wooden",
];
const NOUNS: [&str; 64] = [
    "guitar",
    "kitchen",
    "mountain",
    "garden",
    "camera",
    "river",
    "bread",
    "engine",
    "city",
    "story",
    "piano",
    "dog",
    "cat",
    "winter",
    "summer",
    "bicycle",
    "train",
    "coffee",
    "chess",
    "puzzle",
    "robot",
    "market",
    "island",
    "forest",
    "harbour",
    "lesson",
    "bridge",
    "violin",
    "recipe",
    "painting",
    "language",
    "history",
    "planet",
    "ocean",
    "desert",
    "tower",
    "workshop",
    "library",
    "balloon",
    "lantern",
    "compass",
    "kettle",
    "hammer",
    "ladder",
    "mirror",
    "needle",
    "orchard",
    "pepper",
    "quarry",
    "rocket",
    "sailboat",
    "telescope",
    "umbrella",
    "village",
    "waterfall",
    "yarn",
    "zebra",
    "anchor",
    "beetle",
    "candle",
    "dolphin",
    "falcon",
    "glacier",
    "meadow",
];
const ACTIONS: [&str; 24] = [
    "building",
    "cooking",
    "exploring",
    "fixing",
    "learning",
    "playing",
    "restoring",
    "testing",
    "walking",
    "drawing",
    "growing",
    "cleaning",
    "comparing",
    "designing",
    "filming",
    "folding",
    "mixing",
    "naming",
    "planting",
    "repairing",
    "sailing",
    "sorting",
    "training",
    "winding",
];
const LINKS: [&str; 12] = [
    "with", "in", "for", "without", "near", "before", "after", "under", "beyond", "against",
    "around", "between",
];
const SYLLABLES: [&str; 32] = [
    "ba", "cor", "da", "el", "fi", "gra", "ho", "in", "ju", "ka", "lo", "mir", "na", "or", "pe",
    "qui", "ra", "sol", "ta", "ul", "ve", "wen", "xa", "yo", "zi", "bren", "dal", "fen", "gar",
    "lin", "mor", "tis",
];

/// A number below `most`, small ones far more often than large ones.
fn skewed(ids: &mut dyn Ids, most: usize) -> usize {
    let unit = f64::from(u32::try_from(ids.next() >> 32).unwrap_or(0)) / f64::from(u32::MAX);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a few dozen words"
    )]
    let at = (unit * unit * most as f64) as usize;
    at.min(most - 1)
}

fn of(words: &[&'static str], ids: &mut dyn Ids) -> &'static str {
    words.get(skewed(ids, words.len())).copied().unwrap_or_default()
}

/// A name that no text has by chance, and that is the same for the same number.
pub(super) fn name(number: u64) -> String {
    let mut left = number;
    let mut name = String::new();
    // Four syllables at least, so that names look alike; more where the number needs them.
    for at in 0.. {
        if at >= 4 && left == 0 {
            break;
        }
        let place = usize::try_from(left % 32).unwrap_or(0);
        name.push_str(SYLLABLES.get(place).copied().unwrap_or_default());
        left /= 32;
    }
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A phrase for a title.
pub(super) fn phrase(ids: &mut dyn Ids) -> String {
    format!(
        "{} {} {} {} {}",
        of(&ACTIONS, ids),
        of(&ADJECTIVES, ids),
        of(&NOUNS, ids),
        of(&LINKS, ids),
        of(&NOUNS, ids)
    )
}

/// A sentence for a description.
pub(super) fn sentence(ids: &mut dyn Ids) -> String {
    format!("{} and {}.", phrase(ids), phrase(ids))
}

/// A tag.
pub(super) fn tag(ids: &mut dyn Ids) -> &'static str {
    of(&NOUNS, ids)
}
