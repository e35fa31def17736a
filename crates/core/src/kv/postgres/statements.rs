//! The statements, in the SQL that PostgreSQL shares with those who speak its wire: no procedures, no advisory locks.

use crate::kv::Order;

/// The texts of the statements that every connection prepares, with the names of one schema in them.
#[derive(Debug)]
pub(super) struct Statements {
    /// A guarded batch, in one statement and so in one round trip: keys and versions that are expected, the batch's id, keys to delete,
    /// keys and values to put. It gives the version, or no row where an expectation does not hold.
    ///
    /// All parts see the snapshot that the transaction began with. The version is drawn after that snapshot: of two batches that write
    /// one key, the later one has seen the earlier, or is refused by the server, so that it has drawn the greater version.
    pub(super) commit: String,
    /// Several guarded batches in one transaction, each applied or not by itself: none writes what another one expects or writes. It takes keys and
    /// versions that are expected, each once; pairs of the place of one of these and of the batch that expects it; ids; and keys to delete, and keys and
    /// values to put, each with its batch. Places begin with 1. It gives the place and version of each batch that was applied.
    pub(super) commit_many: String,
    /// The rows of several keys, in any order.
    pub(super) get: String,
    /// The format of the schema.
    pub(super) format: String,
    scans: [String; 2],
    /// The rows from a key on and before another of which many roll up: see [`rolled_up`].
    pub(super) rolled_up: String,
    /// Names a batch as given up, where no batch of this name was applied.
    pub(super) give_up: String,
    /// The version of a batch that was applied, or 0 for one that was given up.
    pub(super) outcome: String,
    /// Forgets some ids that are older than anybody asks for.
    pub(super) forget: String,
}

impl Statements {
    /// The statements on the tables of a schema.
    pub(super) fn of(schema: &str) -> Self {
        let scan = |order| {
            format!(
                "SELECT k, v, ver FROM {schema}.kv WHERE k >= $1 AND k < $2 ORDER BY k {order} LIMIT $3"
            )
        };
        Self {
            commit: commit(schema),
            commit_many: commit_many(schema),
            get: format!("SELECT k, v, ver FROM {schema}.kv WHERE k = ANY($1)"),
            format: format!("SELECT value FROM {schema}.facts WHERE name = 'format'"),
            scans: [scan("ASC"), scan("DESC")],
            rolled_up: rolled_up(schema),
            give_up: format!(
                "INSERT INTO {schema}.batches (id, ver, at) VALUES ($1, 0, now()) ON CONFLICT DO NOTHING"
            ),
            outcome: format!("SELECT ver FROM {schema}.batches WHERE id = $1"),
            forget: format!(
                "DELETE FROM {schema}.batches WHERE id IN (SELECT id FROM {schema}.batches WHERE at < now() - INTERVAL '1 hour' ORDER BY at LIMIT 1000)"
            ),
        }
    }

    /// The rows from a key on and before another, the ones of this end first, a number of them.
    pub(super) fn scan(&self, order: Order) -> &str {
        let [ascending, descending] = &self.scans;
        match order {
            Order::Ascending => ascending,
            Order::Descending => descending,
        }
    }
}

/// The expectations are looked up one by one, so that no plan reads the whole table, and a transaction depends on no more rows than it named.
fn commit(schema: &str) -> String {
    format!(
        "WITH held AS MATERIALIZED (
            SELECT NOT EXISTS (
                SELECT 1 FROM unnest($1::BYTEA[], $2::BIGINT[]) AS expected (k, ver)
                WHERE COALESCE((SELECT kv.ver FROM {schema}.kv AS kv WHERE kv.k = expected.k), 0) <> expected.ver
            ) AS all_of_them
        ), next AS MATERIALIZED (
            SELECT nextval('{schema}.versions') AS ver FROM held WHERE all_of_them
        ), named AS (
            INSERT INTO {schema}.batches (id, ver, at) SELECT $3::BYTEA, next.ver, now() FROM next
        ), gone AS (
            DELETE FROM {schema}.kv WHERE k = ANY($4::BYTEA[]) AND EXISTS (SELECT 1 FROM next)
        ), written AS (
            INSERT INTO {schema}.kv (k, v, ver)
            SELECT put.k, put.v, next.ver FROM next CROSS JOIN unnest($5::BYTEA[], $6::BYTEA[]) AS put (k, v)
            ON CONFLICT (k) DO UPDATE SET v = excluded.v, ver = excluded.ver
        )
        SELECT ver FROM next"
    )
}

/// As [`commit`]. What several batches expect is looked up once.
fn commit_many(schema: &str) -> String {
    format!(
        "WITH failed AS MATERIALIZED (
            SELECT expected.at FROM unnest($1::BYTEA[], $2::BIGINT[]) WITH ORDINALITY AS expected (k, ver, at)
            WHERE COALESCE((SELECT kv.ver FROM {schema}.kv AS kv WHERE kv.k = expected.k), 0) <> expected.ver
        ), next AS MATERIALIZED (
            SELECT batch.number, batch.id, nextval('{schema}.versions') AS ver
            FROM unnest($5::BYTEA[]) WITH ORDINALITY AS batch (id, number)
            WHERE batch.number NOT IN (
                SELECT guard.number FROM unnest($3::BIGINT[], $4::BIGINT[]) AS guard (at, number)
                WHERE guard.at IN (SELECT failed.at FROM failed)
            )
        ), named AS (
            INSERT INTO {schema}.batches (id, ver, at) SELECT next.id, next.ver, now() FROM next
        ), gone AS (
            DELETE FROM {schema}.kv WHERE k = ANY(ARRAY(
                SELECT gone.k FROM unnest($6::BYTEA[], $7::BIGINT[]) AS gone (k, number)
                WHERE gone.number IN (SELECT next.number FROM next)
            ))
        ), written AS (
            INSERT INTO {schema}.kv (k, v, ver)
            SELECT put.k, put.v, next.ver FROM unnest($8::BYTEA[], $9::BYTEA[], $10::BIGINT[]) AS put (k, v, number)
            JOIN next ON next.number = put.number
            ON CONFLICT (k) DO UPDATE SET v = excluded.v, ver = excluded.ver
        )
        SELECT number, ver FROM next"
    )
}

/// Each row leads to the next: the first behind it, or behind all that it stands for. So each costs a look into the index, however many rows are
/// passed over. It takes the least key and the one before which they lie, the place in keys from which the delimiter is looked for, the
/// delimiter and the end behind which it counts for nothing, and the number of rows, which come in any order.
fn rolled_up(schema: &str) -> String {
    let first = |bound: &str| {
        format!(
            "SELECT kv.k FROM {schema}.kv AS kv WHERE {bound} AND kv.k < $2::BYTEA ORDER BY kv.k LIMIT 1"
        )
    };
    let rest = "substring(shown.k FROM $3::INT4)";
    let (at, end) =
        (format!("position($4::BYTEA IN {rest})"), format!("position($5::BYTEA IN {rest})"));
    let beyond = format!(
        "CASE WHEN {at} > 0 AND ({end} = 0 OR {at} < {end})
            THEN substring(shown.k FROM 1 FOR $3::INT4 + {at} + length($4::BYTEA) - 2) || '\\xff'::BYTEA
            ELSE shown.k END"
    );
    format!(
        "WITH RECURSIVE shown (k, number) AS (
            SELECT ({}), 1::BIGINT
            UNION ALL
            SELECT ({}), number + 1 FROM shown WHERE shown.k IS NOT NULL AND number < $6::BIGINT
        )
        SELECT kv.k, kv.v, kv.ver FROM shown JOIN {schema}.kv AS kv ON kv.k = shown.k",
        first("kv.k >= $1::BYTEA"),
        first(&format!("kv.k > {beyond}"))
    )
}
