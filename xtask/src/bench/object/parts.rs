//! Uploads in parts: a large one beside plain PUTs, one of the most parts, and reads of what that made.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use hyper::body::Bytes;

use super::load::{BUCKET, Connection, Target, Work};
use super::sign::Draft;
use super::{KIB, MIB, Own, SPAN, body, median, put_on_disk};
use crate::bench::report::Row;

/// The large upload: a GiB by parts of 8 MiB over 8 connections, beside bodies of 64 MiB.
const LARGE_PARTS: u32 = 128;
const LARGE_PART_BYTES: usize = 8 * MIB;
const LARGE_CONNECTIONS: usize = 8;
const LARGE_BODY_BYTES: usize = 64 * MIB;
const LARGE_ROUNDS: usize = 2;
/// The upload of the most parts.
const MANY_PARTS: u32 = 10_000;
const MANY_PART_BYTES: usize = 64 * KIB;
const MANY_CONNECTIONS: usize = 16;
const MANY_ROUNDS: usize = 3;
/// The time that its completion may take.
const COMPLETION_MAX: Duration = Duration::from_millis(100);
/// Bytes of a range, and the number of places that are read.
const RANGE_BYTES: usize = 64 * KIB;
const PLACES: usize = 512;
/// The factor by which a range may be dearer than one at the start.
const RANGE_WITHIN: f64 = 1.5;

/// Everything about uploads in parts; see the module.
///
/// # Errors
/// If the server does not start or answer.
pub(super) fn measure(at: &dyn Fn(&str)) -> Result<Vec<Row>> {
    at("a GiB in parts");
    let mut rows = vec![large()?];
    at("an object of 10,000 parts");
    rows.extend(many()?);
    Ok(rows)
}

/// An upload that was begun.
struct Upload<'t> {
    target: &'t Target,
    path: String,
    id: String,
}

impl<'t> Upload<'t> {
    fn begin(target: &'t Target, key: &str) -> Result<Self> {
        let path = format!("/{BUCKET}/{key}");
        let draft = Draft {
            method: "POST",
            path: &path,
            query: "uploads=",
            length: Some(0),
            ..Draft::default()
        };
        let mut connection = Connection::open(target.address)?;
        connection.exchange(&target.head(&draft)?, &[])?;
        let id = connection.element("UploadId")?;
        Ok(Self { target, path, id })
    }

    /// Uploads so many parts of this body; gives their entity tags in order.
    fn put(&self, connections: usize, parts: u32, body: &Bytes) -> Result<Vec<String>> {
        let mut tags = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..connections)
                .map(|client| {
                    let numbers = (1..=parts).skip(client).step_by(connections);
                    scope.spawn(move || {
                        let mut connection = Connection::open(self.target.address)?;
                        numbers.map(|number| self.put_part(&mut connection, number, body)).collect()
                    })
                })
                .collect();
            let ended: Result<Vec<Vec<(u32, String)>>> = clients
                .into_iter()
                .map(|client| client.join().map_err(|_| anyhow!("a client panicked"))?)
                .collect();
            Ok::<_, anyhow::Error>(ended?.concat())
        })?;
        tags.sort_unstable();
        Ok(tags.into_iter().map(|(_, tag)| tag).collect())
    }

    fn put_part(
        &self,
        connection: &mut Connection,
        number: u32,
        body: &Bytes,
    ) -> Result<(u32, String)> {
        let query = format!("partNumber={number}&uploadId={}", self.id);
        let length = Some(body.len());
        let draft =
            Draft { method: "PUT", path: &self.path, query: &query, length, ..Draft::default() };
        connection.exchange(&self.target.head(&draft)?, body)?;
        Ok((number, connection.field("etag").context("a part has a tag")?.to_owned()))
    }

    /// Completes it; gives the time that took.
    fn complete(&self, tags: &[String]) -> Result<Duration> {
        let parts: String = tags
            .iter()
            .enumerate()
            .map(|(at, tag)| {
                format!("<Part><PartNumber>{}</PartNumber><ETag>{tag}</ETag></Part>", at + 1)
            })
            .collect();
        let document = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        let query = format!("uploadId={}", self.id);
        let length = Some(document.len());
        let draft =
            Draft { method: "POST", path: &self.path, query: &query, length, ..Draft::default() };
        let head = self.target.head(&draft)?;
        let mut connection = Connection::open(self.target.address)?;
        let begun = Instant::now();
        connection.exchange(&head, document.as_bytes())?;
        let took = begun.elapsed();
        connection.element("ETag")?;
        Ok(took)
    }
}

/// A GiB in parts, turn about with bodies that are as much.
fn large() -> Result<Row> {
    let own = Own::start()?;
    let (part, whole) = (body(LARGE_PART_BYTES), body(LARGE_BODY_BYTES));
    let bytes = LARGE_PARTS as usize * LARGE_PART_BYTES;
    let each = bytes / LARGE_BODY_BYTES / LARGE_CONNECTIONS;
    let (mut in_parts, mut plain) = (0.0, 0.0);
    for round in 0..LARGE_ROUNDS {
        put_on_disk()?;
        let begun = Instant::now();
        let upload = Upload::begin(&own.target, &format!("large-{round}"))?;
        upload.complete(&upload.put(LARGE_CONNECTIONS, LARGE_PARTS, &part)?)?;
        in_parts += mib(bytes) / begun.elapsed().as_secs_f64();
        put_on_disk()?;
        let work = Work::Put { prefix: format!("plain-{round}"), body: whole.clone() };
        plain +=
            mib(LARGE_BODY_BYTES) * own.target.rate_of(&work, LARGE_CONNECTIONS, each as u64)?;
    }
    own.server.stop()?;
    Ok(Row {
        what: "1 GiB by parts of 8 MiB, 8 connections".into(),
        value: in_parts / 2.0,
        unit: "MiB/s",
        limit: Some(("PUT of 64 MiB, 8 connections".into(), plain / 2.0)),
        expected: Some(0.8),
    })
}

/// Completion, reads and ranges of an object of the most parts.
fn many() -> Result<Vec<Row>> {
    let own = Own::start_with(&["--part-bytes-min", "1"])?;
    let part = body(MANY_PART_BYTES);
    let mut took = Vec::new();
    for _ in 0..MANY_ROUNDS {
        let upload = Upload::begin(&own.target, "many")?;
        let tags = upload.put(MANY_CONNECTIONS, MANY_PARTS, &part)?;
        put_on_disk()?;
        took.push(upload.complete(&tags)?.as_secs_f64());
    }
    let bytes = MANY_PARTS as usize * MANY_PART_BYTES;
    let draft =
        Draft { method: "PUT", path: "/bench/one", length: Some(bytes), ..Draft::default() };
    Connection::open(own.target.address)?.exchange(&own.target.head(&draft)?, &body(bytes))?;
    put_on_disk()?;
    let took = median(took);
    let mut rows = vec![Row {
        what: format!(
            "completion of 10,000 parts takes {:.0} ms: how often that fits",
            took * 1_000.0
        ),
        value: COMPLETION_MAX.as_secs_f64() / took,
        unit: "times",
        limit: Some(("once in 100 ms".into(), 1.0)),
        expected: Some(1.0),
    }];
    rows.extend(reads(&own.target, bytes)?);
    own.server.stop()?;
    Ok(rows)
}

fn reads(target: &Target, bytes: usize) -> Result<Vec<Row>> {
    let of = |key: &str, ranges: &[usize]| {
        let path = format!("/{BUCKET}/{key}");
        let draft = Draft { method: "GET", path: &path, ..Draft::default() };
        let heads: Result<Arc<[String]>> = match ranges {
            [] => Ok([target.head(&draft)?].into()),
            places => places
                .iter()
                .map(|at| {
                    let range = format!("bytes={at}-{}", at + RANGE_BYTES - 1);
                    target.head(&Draft { headers: &[("range", &range)], ..draft })
                })
                .collect(),
        };
        let size = if ranges.is_empty() { bytes } else { RANGE_BYTES };
        Ok::<_, anyhow::Error>(Work::Signed { heads: heads?, body: Bytes::new(), size })
    };
    // Steps of a number that is no part's: ranges begin within parts, and reach into the next.
    let step = (bytes - RANGE_BYTES) / PLACES;
    let anywhere: Vec<_> = (0..PLACES).map(|place| place * 7 % PLACES * step).collect();
    let works = [of("many", &[])?, of("one", &[])?, of("many", &anywhere)?, of("many", &[0])?];
    let mut rates = [0.0; 4];
    for _ in 0..MANY_ROUNDS {
        for (rate, work) in rates.iter_mut().zip(&works) {
            *rate += target.rate(work, 1, SPAN)? / 3.0;
        }
    }
    let [many, one, anywhere, start] = rates;
    let row = |what: &str, value, unit, limit: (&str, f64), expected| Row {
        what: what.into(),
        value,
        unit,
        limit: Some((limit.0.into(), limit.1)),
        expected: Some(expected),
    };
    let whole = mib(bytes);
    Ok(vec![
        row(
            "GET of 10,000 parts of 64 KiB",
            many * whole,
            "MiB/s",
            ("of one part", one * whole),
            0.8,
        ),
        row(
            "ranges of 64 KiB anywhere in them",
            anywhere,
            "requests/s",
            ("at the start", start),
            1.0 / RANGE_WITHIN,
        ),
    ])
}

#[expect(clippy::cast_precision_loss, reason = "a size has no 53 bits")]
fn mib(bytes: usize) -> f64 {
    bytes as f64 / MIB as f64
}
