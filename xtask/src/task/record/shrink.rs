//! The shortest scenario that still shows a mismatch.

use anyhow::Result;

use super::mismatch::Mismatch;
use super::scenario::Scenario;

/// Takes steps out for as long as `judge` finds a mismatch of the same class.
///
/// # Errors
/// The error of `judge`.
pub(super) fn shrink(
    scenario: &Scenario,
    mismatch: &Mismatch,
    mut judge: impl FnMut(&Scenario) -> Result<Option<Mismatch>>,
) -> Result<(Scenario, Mismatch)> {
    let mut found = (scenario.clone(), mismatch.clone());
    let mut try_it = |candidate: Scenario, found: &mut (Scenario, Mismatch)| -> Result<bool> {
        let still = judge(&candidate)?.filter(|still| still.class == found.1.class);
        let is_found = still.is_some();
        if let Some(still) = still {
            *found = (candidate, still);
        }
        Ok(is_found)
    };
    let mut cut = scenario.clone();
    cut.steps.truncate(mismatch.step + 1);
    if cut.steps.len() < scenario.steps.len() {
        try_it(cut, &mut found)?;
    }
    let mut at = found.0.steps.len();
    while let Some(earlier) = at.checked_sub(1) {
        at = earlier;
        let candidate = found.0.without(at);
        if !candidate.steps.is_empty() && try_it(candidate, &mut found)? {
            at = at.min(found.0.steps.len());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::scenario::Step;
    use super::*;

    #[test]
    fn only_the_steps_that_a_mismatch_needs_are_left() {
        let steps = (0..9).map(|number| Step::new("tabs.move", vec![json!(number)])).collect();
        let [name, description, variant] = ["one", "", "full"].map(str::to_owned);
        let scenario =
            Scenario { name, description, variant, listeners: Vec::new(), generated: None, steps };
        let mismatch = |step| Mismatch {
            class: "moved".into(),
            step,
            wanted: String::new(),
            got: String::new(),
        };
        let needs = |scenario: &Scenario, number: i64| {
            scenario.steps.iter().position(|step| step.args == [json!(number)])
        };
        let judge =
            |scenario: &Scenario| Ok(needs(scenario, 2).and(needs(scenario, 6)).map(mismatch));
        let (shrunk, found) = shrink(&scenario, &mismatch(6), judge).unwrap();
        assert_eq!(shrunk.steps.len(), 2);
        assert_eq!(found.step, 1);
    }
}
