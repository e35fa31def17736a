//! Costs of requests, as they were measured.

use serde::{Deserialize, Serialize};

/// The costs of one request on a store.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cost {
    /// Round trips to the store, the commit among them.
    pub round_trips: f64,
    /// Milliseconds that it keeps a core of the database busy, all its round trips together.
    pub database_ms: f64,
    /// Milliseconds that it keeps a core of the instance busy.
    pub instance_ms: f64,
    /// Bytes of the database's log.
    pub log_bytes: f64,
    /// Bytes by which the tables and their indexes grow, for as long as it is kept.
    pub kept_bytes: f64,
    /// Bytes that an hour takes away again: ids of commits.
    pub passing_bytes: f64,
}

/// The costs of the requests that are simulated, and of what was measured beside them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Costs {
    /// The machine.
    pub machine: String,
    /// A PUT of 4 KiB to a new key.
    pub put: Cost,
    /// A PUT of 4 KiB over an object.
    pub replace: Cost,
    /// A GET of 4 KiB.
    pub get: Cost,
    /// A list of 100 objects.
    pub list: Cost,
    /// A list of 50 videos by their ids.
    pub videos: Cost,
}

impl Costs {
    /// All of them, with what they are of.
    pub(crate) fn rows(&self) -> [(&'static str, Cost); 5] {
        [
            ("PUT of a new object of 4 KiB", self.put),
            ("PUT over an object", self.replace),
            ("GET of 4 KiB", self.get),
            ("a list of 100 objects", self.list),
            ("videos.list of 50 ids", self.videos),
        ]
    }

    /// Milliseconds of the database's cores for one round trip that reads.
    pub(crate) fn read_ms(&self) -> f64 {
        self.get.database_ms / self.get.round_trips.max(1.0)
    }

    /// Round trips of a PUT that read.
    pub(crate) fn reads_of_put(&self) -> usize {
        // A few at the most, and a commit beside them; what an instance does by the clock is among them as a fraction.
        let mut reads = 0;
        while f64::from(reads) + 1.5 < self.put.round_trips {
            reads += 1;
        }
        usize::try_from(reads).unwrap_or_default()
    }

    /// Milliseconds of the database's cores for the commit of a PUT.
    pub(crate) fn commit_ms(&self) -> f64 {
        let reads = self.reads_of_put() as f64 * self.read_ms();
        (self.put.database_ms - reads).max(self.read_ms())
    }
}

/// Costs for tests: round numbers near those of 2026.
#[cfg(test)]
pub(crate) fn sample() -> Costs {
    let cost = |round_trips, database_ms| Cost {
        round_trips,
        database_ms,
        instance_ms: 0.25,
        log_bytes: 1_700.0,
        kept_bytes: 670.0,
        passing_bytes: 180.0,
    };
    Costs {
        machine: "a sample".into(),
        put: cost(3.01, 0.4),
        replace: cost(3.0, 0.5),
        get: cost(2.0, 0.1),
        list: cost(3.0, 0.3),
        videos: cost(1.0, 0.2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_put_are_what_it_costs_in_all() {
        let costs = sample();
        assert_eq!(costs.reads_of_put(), 2);
        let all = costs.commit_ms() + 2.0 * costs.read_ms();
        assert!((all - costs.put.database_ms).abs() < 1e-9);
    }
}
