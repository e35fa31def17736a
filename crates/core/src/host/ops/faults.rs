//! Faults on request: the next requests that match a rule are delayed, refused, or both.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

const RULES_MAX: usize = 1_000;

/// One rule of `/_ops/faults`. What is left out matches everything, or does nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::host) struct Fault {
    /// Its number, by which it is taken back.
    #[serde(default, skip_deserializing)]
    id: u64,
    /// The method that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    /// The start of the path that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Answer with this status, 400 to 599.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::host) status: Option<u16>,
    /// The reason to give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::host) reason: Option<String>,
    /// Wait so many milliseconds first.
    #[serde(default)]
    delay_ms: u64,
    /// Count of requests that it is for.
    #[serde(default = "once")]
    times: u64,
}

const fn once() -> u64 {
    1
}

impl Fault {
    pub(in crate::host) const fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms)
    }

    fn is_for(&self, method: &str, path: &str) -> bool {
        self.method.as_deref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(method))
            && self.path.as_deref().is_none_or(|start| path.starts_with(start))
    }
}

/// The rules that are not used up yet, oldest first.
#[derive(Debug, Default)]
pub(in crate::host) struct Faults {
    rules: Mutex<Vec<Fault>>,
    last: AtomicU64,
    any: AtomicBool,
}

impl Faults {
    pub(in crate::host) fn add(&self, fault: Fault) -> Result<(), String> {
        if fault.status.is_some_and(|status| !(400..600).contains(&status)) {
            return Err("status is 400 to 599".into());
        }
        if fault.status.is_none() && fault.delay_ms == 0 {
            return Err("a fault needs a status, a delayMs, or both".into());
        }
        if fault.times == 0 {
            return Err("times is 1 or more".into());
        }
        let mut rules = self.rules.lock();
        if rules.len() == RULES_MAX {
            return Err(format!("there are {RULES_MAX} faults already"));
        }
        rules.push(Fault { id: 1 + self.last.fetch_add(1, Ordering::Relaxed), ..fault });
        self.any.store(true, Ordering::Release);
        Ok(())
    }

    pub(in crate::host) fn clear(&self) {
        self.rules.lock().clear();
        self.any.store(false, Ordering::Release);
    }

    /// Takes one rule back, and returns whether it was there.
    pub(in crate::host) fn remove(&self, id: u64) -> bool {
        let mut rules = self.rules.lock();
        let before = rules.len();
        rules.retain(|fault| fault.id != id);
        self.any.store(!rules.is_empty(), Ordering::Release);
        rules.len() < before
    }

    pub(in crate::host) fn list(&self) -> Vec<Fault> {
        self.rules.lock().clone()
    }

    /// The fault of this request, which is then used up by one.
    pub(in crate::host) fn take(&self, method: &str, path: &str) -> Option<Fault> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let mut rules = self.rules.lock();
        let at = rules.iter().position(|fault| fault.is_for(method, path))?;
        let fault = rules.get_mut(at)?;
        fault.times = fault.times.saturating_sub(1);
        let taken = fault.clone();
        if taken.times == 0 {
            rules.remove(at);
        }
        self.any.store(!rules.is_empty(), Ordering::Release);
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_used_as_often_as_it_says_and_only_where_it_matches() {
        let faults = Faults::default();
        let fault =
            serde_json::from_str(r#"{"method": "PUT", "path": "/a", "status": 503, "times": 2}"#)
                .unwrap();
        faults.add(fault).unwrap();
        assert!(faults.take("GET", "/a").is_none());
        assert!(faults.take("PUT", "/b").is_none());
        assert!(faults.take("PUT", "/a/b").is_some());
        assert!(faults.take("put", "/a").is_some());
        assert!(faults.take("PUT", "/a").is_none());
    }

    #[test]
    fn a_fault_is_taken_back_by_its_id_and_others_stay() {
        let faults = Faults::default();
        for _ in 0..3 {
            faults.add(serde_json::from_str(r#"{"status": 500}"#).unwrap()).unwrap();
        }
        assert!(faults.remove(2) && !faults.remove(2));
        let ids: Vec<_> = faults.list().iter().map(|fault| fault.id).collect();
        assert_eq!(ids, [1, 3]);
    }

    #[test]
    fn a_fault_that_does_nothing_is_refused() {
        let faults = Faults::default();
        assert!(faults.add(serde_json::from_str("{}").unwrap()).is_err());
        assert!(faults.add(serde_json::from_str(r#"{"status": 200}"#).unwrap()).is_err());
        let never = serde_json::from_str(r#"{"status": 503, "times": 0}"#).unwrap();
        assert!(faults.add(never).is_err() && faults.list().is_empty());
    }
}
