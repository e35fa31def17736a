//! A wire between an engine and its store that is cut at random bytes, loses answers and is slow, under load.

use std::sync::Arc;
use std::time::Duration;

use triptych_core::kv::{SharedKeyValue, Weather, Wire};

use super::load::under_load;

/// Runs the writers while the weather changes, and connections are cut within so many bytes; it is clear when they are asked what is there.
pub(crate) fn under_all_weathers<S: SharedKeyValue + 'static>(
    store: &Arc<S>,
    wire: &Wire,
    within: u64,
) {
    store.wait_until_reached(super::PATIENCE).unwrap();
    let weathers = [
        Weather::LosesAnswers,
        Weather::Cut(within),
        Weather::Slow(Duration::from_millis(20)),
        Weather::LosesAnswers,
        Weather::Cut(within),
        Weather::Clear,
    ];
    let count = u32::try_from(weathers.len()).unwrap();
    let mut next = weathers.into_iter();
    under_load(store, count, || wire.turn(next.next().unwrap()));
    assert!(wire.cut() > 0, "the wire was never cut");
    assert!(store.stats().outcomes_asked > 0, "no answer was lost: {:?}", store.stats());
}
