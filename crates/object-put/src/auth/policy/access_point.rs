//! The policy of an access point, which a request must pass beside that of its bucket.

use crate::auth::account::Caller;
use crate::auth::policy::{Effect, Policy};
use crate::error::Error;
use crate::store::access_point::AccessPoint;

/// Tells whether an access point lets a caller through: by its policy, of which `evaluate` gives the effect, or because it is the caller's
/// own.
///
/// # Errors
/// [`Error::Damaged`] for a policy that cannot be read; those of `evaluate`.
pub fn passes(
    point: &AccessPoint,
    caller: &Caller,
    evaluate: impl FnOnce(&Policy) -> Result<Option<Effect>, Error>,
) -> Result<bool, Error> {
    let owns = caller.account().is_some_and(|account| account.id == point.account);
    let Some(document) = &point.policy else {
        return Ok(owns);
    };
    let policy =
        Policy::of_access_point(document, &point.resource()).map_err(|_| Error::Damaged)?;
    Ok(match evaluate(&policy)? {
        Some(Effect::Deny) => false,
        Some(Effect::Allow) => owns || !(policy.is_public() && point.restricts_public),
        None => owns,
    })
}
