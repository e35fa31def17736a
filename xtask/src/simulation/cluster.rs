//! Instances of object-put, their databases and a store of bodies, as a network of queues.

use super::costs::Costs;
use super::queueing::{self, Servers, Step};

/// Requests under way at each instance.
const UNDER_WAY: usize = 64;
/// Cores of an instance.
const INSTANCE_CORES: usize = 2;
/// Cores of a database.
pub(super) const DATABASE_CORES: usize = 16;
/// Bytes of a database's memory that hold its tables and their indexes.
pub(super) const MEMORY_BYTES: f64 = 100e9;
/// Reads and writes of a database's disk at once, and seconds of each: 16,000 a second.
const DISK: (usize, f64) = (8, 0.000_5);
/// Seconds of a flush of its log, and bytes a second that it takes.
const LOG: (f64, f64) = (0.000_5, 500e6);
/// Seconds of a round trip to the database, and of a body's way to the store of bodies.
const ROUND_TRIP: f64 = 0.000_5;
const BODY: f64 = 0.025;
/// Bytes of a page of a table, which is in the log as a whole when it changes for the first time after a checkpoint.
const PAGE_BYTES: f64 = 8_192.0;
/// Seconds between two checkpoints.
const CHECKPOINT: f64 = 300.0;
/// Whole pages in the log for each PUT that change nothing worth another round.
const SETTLED: f64 = 0.02;
/// Requests that a run looks at, at the least, and for each client: fewer in tests, which are not optimised.
const REQUESTS: (usize, usize) = if cfg!(test) { (8_000, 6) } else { (10_000, 8) };

/// A thing to simulate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub instances: usize,
    /// Databases, each with its own part of the objects.
    pub databases: usize,
    /// Objects that are there.
    pub objects: f64,
    /// Set if new keys are spread over all of them; else each is greater than the one before it.
    pub spread: bool,
}

/// The end of a simulation.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    /// PUTs a second.
    pub rate: f64,
    /// Seconds of one in the mean.
    pub answered_after: f64,
    /// The busiest part, and the share of time for which it is busy.
    pub limit: (&'static str, f64),
    /// The same of the databases' cores.
    pub database: f64,
}

/// Simulates PUTs of new objects.
pub(super) fn puts(costs: &Costs, plan: &Plan) -> Outcome {
    // How much of the log is whole pages depends on the rate, which depends on that: it settles in a few rounds.
    let (mut outcome, mut pages) = (once(costs, plan, 0.0), 0.0);
    for _ in 0..4 {
        let now = pages_logged(costs, plan, outcome.rate);
        if (now - pages).abs() < SETTLED {
            break;
        }
        pages = (pages + now) / 2.0;
        outcome = once(costs, plan, pages);
    }
    outcome
}

/// The share of PUTs that read a page of an index or a table from the disk.
fn missed(costs: &Costs, plan: &Plan) -> f64 {
    if !plan.spread {
        return 0.0;
    }
    let bytes = plan.objects * costs.put.kept_bytes / plan.databases as f64;
    (1.0 - MEMORY_BYTES / bytes).max(0.0)
}

/// Whole pages in the log for each PUT, at a rate.
fn pages_logged(costs: &Costs, plan: &Plan, rate: f64) -> f64 {
    if !plan.spread || rate <= 0.0 {
        return 0.0;
    }
    // Of the index alone: rows of the table are put where there is room, one beside the other.
    let index_bytes = plan.objects * costs.put.kept_bytes * 0.15;
    let pages = (index_bytes / PAGE_BYTES).max(1.0);
    let written = rate * CHECKPOINT;
    pages * (1.0 - (-written / pages).exp()) / written
}

fn once(costs: &Costs, plan: &Plan, pages: f64) -> Outcome {
    let Plan { instances, databases, .. } = *plan;
    let of_instances = |number: usize| number;
    let cores = |database: usize| instances + database;
    let disk = |database: usize| instances + databases + database;
    let stations = std::iter::repeat_n(INSTANCE_CORES, instances)
        .chain(std::iter::repeat_n(DATABASE_CORES, databases))
        .chain(std::iter::repeat_n(DISK.0, databases));
    let servers = Servers { stations: stations.collect(), logs: vec![LOG; databases] };
    let (missed, reads) = (missed(costs, plan), costs.reads_of_put());
    let log_bytes = costs.put.log_bytes + pages * PAGE_BYTES;
    let seconds = |millis: f64| millis / 1_000.0;
    let steps = |client: usize, chance: &mut queueing::Chance| {
        let database = chance.one_of(databases);
        let instance = of_instances(client % instances);
        let mut steps = vec![Step::Serve(instance, seconds(costs.put.instance_ms))];
        for _ in 0..reads {
            steps.push(Step::Delay(ROUND_TRIP));
            steps.push(Step::Serve(cores(database), seconds(costs.read_ms())));
        }
        steps.extend([Step::Delay(BODY), Step::Delay(ROUND_TRIP)]);
        steps.push(Step::Serve(cores(database), seconds(costs.commit_ms())));
        if chance.share() < missed {
            steps.push(Step::Serve(disk(database), DISK.1));
        }
        steps.push(Step::Flush(database, log_bytes));
        steps
    };
    let clients = instances * UNDER_WAY;
    let requests = REQUESTS.0.max(clients * REQUESTS.1);
    let seen = queueing::run(&servers, clients, requests, steps);
    let mean = |from: usize, count: usize| {
        seen.busy.iter().skip(from).take(count).sum::<f64>() / count as f64
    };
    let parts = [
        ("the instances' cores", mean(0, instances)),
        ("the database's cores", mean(instances, databases)),
        ("the database's disk", mean(instances + databases, databases)),
        ("the database's log", mean(instances + 2 * databases, databases)),
    ];
    let limit = parts.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let [_, (_, database), ..] = parts;
    Outcome {
        rate: seen.rate,
        answered_after: seen.answered_after,
        limit: limit.unwrap_or_default(),
        database,
    }
}

#[cfg(test)]
mod tests {
    use super::super::costs::sample;
    use super::*;

    const SMALL: Plan = Plan { instances: 1, databases: 1, objects: 1e6, spread: true };

    #[test]
    fn one_instance_is_as_fast_as_its_requests_wait_and_a_hundred_as_the_database_has_cores() {
        let costs = sample();
        let one = puts(&costs, &SMALL);
        let alone = BODY + 3.0 * ROUND_TRIP + LOG.0;
        assert!(one.rate < UNDER_WAY as f64 / alone, "{one:?}");
        assert!(one.rate > 0.8 * UNDER_WAY as f64 / alone, "{one:?}");
        let many = puts(&costs, &Plan { instances: 100, ..SMALL });
        let most = DATABASE_CORES as f64 / (costs.put.database_ms / 1_000.0);
        assert!(many.rate < 1.03 * most && many.rate > 0.9 * most, "{many:?} of {most}");
        assert_eq!(many.limit.0, "the database's cores");
    }

    #[test]
    fn more_instances_are_never_slower_and_another_database_takes_its_half() {
        let costs = sample();
        let mut last = 0.0;
        for instances in [1, 3, 10, 30, 100] {
            let now = puts(&costs, &Plan { instances, ..SMALL }).rate;
            assert!(now > 0.97 * last, "{instances}: {now} after {last}");
            last = now;
        }
        let two = puts(&costs, &Plan { instances: 100, databases: 2, ..SMALL });
        assert!(two.rate > 1.8 * last, "{two:?} beside {last}");
    }

    #[test]
    fn pages_that_are_not_in_memory_cost_a_read_and_a_page_of_the_log_and_keys_that_grow_do_not() {
        let costs = sample();
        let billion = Plan { instances: 30, objects: 1e9, ..SMALL };
        assert!(missed(&costs, &SMALL) == 0.0 && missed(&costs, &billion) > 0.8);
        assert!(pages_logged(&costs, &SMALL, 10_000.0) < 0.01);
        assert!(pages_logged(&costs, &billion, 10_000.0) > 0.8);
        let (spread, grown) =
            (puts(&costs, &billion), puts(&costs, &Plan { spread: false, ..billion }));
        assert!(spread.rate < grown.rate, "{spread:?} {grown:?}");
    }
}
