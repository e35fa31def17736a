//! The page of what was simulated, with the costs that it rests on and their prices.

use std::fmt::Write as _;

use super::cluster::{DATABASE_CORES, MEMORY_BYTES, Outcome, Plan};
use super::costs::Costs;

/// Numbers of instances that are simulated.
const INSTANCES: [usize; 5] = [1, 3, 10, 30, 100];
/// Numbers of objects.
const OBJECTS: [(f64, &str); 3] =
    [(1e6, "a million"), (1e8, "a hundred million"), (1e9, "a billion")];
/// Numbers of databases beside the most instances and objects.
const DATABASES: [usize; 4] = [1, 2, 4, 8];
/// The share of time from which something that is busy is the limit.
const IS_LIMIT: f64 = 0.9;

/// List prices of a large provider in 2026, rounded, in dollars.
mod price {
    /// A million requests that write to a store of objects, and that read.
    pub(super) const MILLION_WRITES: f64 = 5.0;
    pub(super) const MILLION_READS: f64 = 0.4;
    /// An hour of a database of 16 cores, and the share of it that is used.
    pub(super) const DATABASE_HOUR: f64 = 1.9;
    pub(super) const DATABASE_USED: f64 = 0.6;
    /// An hour of an instance of 2 cores.
    pub(super) const INSTANCE_HOUR: f64 = 0.08;
    /// A gigabyte for a month: of a database's disk, and of a store of objects.
    pub(super) const TABLE_GB: f64 = 0.115;
    pub(super) const BODY_GB: f64 = 0.023;
}

/// A simulation of PUTs at such costs.
type Simulate = fn(&Costs, &Plan) -> Outcome;

/// The page, and a few words of it.
pub(super) fn write(costs: &Costs, puts: Simulate) -> (String, String) {
    let mut page = format!(
        "# Costs, and a simulation\n\nWritten by `cargo xtask bench scale` and by `cargo xtask scale --step simulation`, from costs that the former measured on {} ([scale-costs.json](scale-costs.json)).\n\n",
        costs.machine
    );
    page += &of_requests(costs);
    page += &of_a_million(costs);
    let (table, bend) = of_instances(costs, puts);
    page += &table;
    page += &of_databases(costs, puts);
    (page, bend)
}

fn of_requests(costs: &Costs) -> String {
    let mut text = "## What a request costs\n\nOne instance on one PostgreSQL, clients that keep both busy; time of processes as the kernel counts it.\n\n| request | round trips | database's cores | instance's cores | log | kept | for an hour |\n|---|---|---|---|---|---|---|\n".to_owned();
    for (what, cost) in costs.rows() {
        let _ = writeln!(
            text,
            "| {what} | {:.2} | {:.2} ms | {:.2} ms | {} | {} | {} |",
            cost.round_trips,
            cost.database_ms,
            cost.instance_ms,
            bytes(cost.log_bytes),
            bytes(cost.kept_bytes),
            bytes(cost.passing_bytes)
        );
    }
    text + "\n"
}

fn bytes(count: f64) -> String {
    if count < 1.0 {
        return "none".to_owned();
    }
    format!("{count:.0} B")
}

fn of_a_million(costs: &Costs) -> String {
    let put = costs.put;
    let database = put.database_ms * 1e6 / 1e3 / DATABASE_CORES as f64 / price::DATABASE_USED;
    let instance = put.instance_ms * 1e6 / 1e3 / 2.0;
    let (kept, passing) = (put.kept_bytes / 1e3, put.passing_bytes / 1e3);
    let rows = [
        ("requests to the object store".into(), "1 million".into(), price::MILLION_WRITES),
        (
            format!(
                "the database: {DATABASE_CORES} cores at ${} an hour, 60 % busy",
                price::DATABASE_HOUR
            ),
            format!("{database:.0} seconds of it"),
            database / 3_600.0 * price::DATABASE_HOUR,
        ),
        (
            format!("instances: 2 cores at ${} an hour", price::INSTANCE_HOUR),
            format!("{instance:.0} seconds of it"),
            instance / 3_600.0 * price::INSTANCE_HOUR,
        ),
        (
            format!("records, kept for a month (${} a GB)", price::TABLE_GB),
            format!("{kept:.2} GB with their index"),
            kept * price::TABLE_GB,
        ),
        (
            format!("bodies, kept for a month (${} a GB)", price::BODY_GB),
            "4.1 GB".to_owned(),
            4.1 * price::BODY_GB,
        ),
        (
            "ids of commits".to_owned(),
            format!("{passing:.2} GB for an hour"),
            passing * price::TABLE_GB / 730.0,
        ),
    ];
    let all: f64 = rows.iter().map(|(_, _, dollars)| dollars).sum();
    let mut text =
        "## A million PUTs of 4 KiB\n\n| what | amount | dollars |\n|---|---|---|\n".to_owned();
    for (what, amount, dollars) in &rows {
        let _ = writeln!(text, "| {what} | {amount} | {} |", money(*dollars));
    }
    let share = 100.0 * price::MILLION_WRITES / all;
    let reads = costs.get.database_ms * 1e3 / DATABASE_CORES as f64 / price::DATABASE_USED;
    let _ = writeln!(
        text,
        "\nIn all ${all:.2}, of which the requests of the object store are {share:.0} %. A million GETs cost ${:.2} there, and {} at the database.\n",
        price::MILLION_READS,
        money_in_words(reads / 3_600.0 * price::DATABASE_HOUR)
    );
    text
}

fn money(dollars: f64) -> String {
    if dollars < 0.01 { "less than 0.01".to_owned() } else { format!("{dollars:.2}") }
}

fn money_in_words(dollars: f64) -> String {
    if dollars < 0.01 { "less than a cent".to_owned() } else { format!("${dollars:.2}") }
}

fn cells(outcome: &Outcome) -> String {
    let (what, busy) = outcome.limit;
    let limit = if busy < IS_LIMIT { "none: clients wait for their bodies" } else { what };
    format!(
        "{:.0} | {:.0} ms | {:.0} % | {limit}",
        outcome.rate,
        outcome.answered_after * 1e3,
        outcome.database * 100.0
    )
}

/// The table of instances and objects, and the first row of the most objects at which the database is the limit.
fn of_instances(costs: &Costs, puts: Simulate) -> (String, String) {
    let mut text = format!(
        "## Instances and objects\n\nA closed network of queues, event by event: 64 requests under way at each instance of 2 cores; 0.5 ms a round trip, 25 ms for a body; one database of {DATABASE_CORES} cores and {:.0} GB for its tables, a disk of 16,000 operations and a log of 500 MB a second that it flushes in 0.5 ms for all who wait; checkpoints every five minutes. Keys are spread over all that there are, unless it says that they grow. It leaves out locks, vacuum, and the bandwidth of the network, so that it says where the first limit is and not what a machine will do.\n\n| objects | instances | PUTs a second | answer after | database busy | limit |\n|---|---|---|---|---|---|\n",
        MEMORY_BYTES / 1e9
    );
    let mut bend = "no limit at 100 instances".to_owned();
    for (objects, name) in OBJECTS {
        let mut is_bent = false;
        for instances in INSTANCES {
            let outcome = puts(costs, &Plan { instances, databases: 1, objects, spread: true });
            let _ = writeln!(text, "| {name} | {instances} | {} |", cells(&outcome));
            if !is_bent && outcome.limit.1 >= IS_LIMIT {
                is_bent = true;
                bend = format!(
                    "{name} objects bend at {instances} instances: {}, {:.0} PUTs a second",
                    outcome.limit.0, outcome.rate
                );
            }
        }
    }
    let grown = Plan { instances: 100, databases: 1, objects: 1e9, spread: false };
    let _ =
        writeln!(text, "| a billion, keys that grow | 100 | {} |\n", cells(&puts(costs, &grown)));
    (text, bend)
}

fn of_databases(costs: &Costs, puts: Simulate) -> String {
    let mut text = "## What then: several databases\n\nA billion objects and 100 instances, with the buckets shared out among databases.\n\n| databases | PUTs a second | answer after | databases busy | limit |\n|---|---|---|---|---|\n".to_owned();
    for databases in DATABASES {
        let plan = Plan { instances: 100, databases, objects: 1e9, spread: true };
        let _ = writeln!(text, "| {databases} | {} |", cells(&puts(costs, &plan)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::costs::sample;
    use super::*;

    /// A database that is busy once there are more instances than five.
    fn simulated(_: &Costs, plan: &Plan) -> Outcome {
        let busy = if plan.instances > 5 { 1.0 } else { 0.5 };
        let limit = ("the database's cores", busy);
        Outcome { rate: 1_000.0, answered_after: 0.03, limit, database: busy }
    }

    #[test]
    fn a_page_has_a_row_for_each_request_and_each_simulation_and_names_the_first_limit() {
        let (page, bend) = write(&sample(), simulated);
        let rows = page.lines().filter(|line| line.starts_with("| ")).count();
        let heads = 4;
        assert_eq!(rows, heads + 5 + 6 + OBJECTS.len() * INSTANCES.len() + 1 + DATABASES.len());
        assert_eq!(
            bend,
            "a billion objects bend at 10 instances: the database's cores, 1000 PUTs a second"
        );
        assert!(page.contains(
            "| a million | 3 | 1000 | 30 ms | 50 % | none: clients wait for their bodies |"
        ));
    }
}
