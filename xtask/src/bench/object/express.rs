//! Directory buckets: sessions and appends; and signatures with a key pair, which any bucket takes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use hyper::body::Bytes;

use super::load::{self, Connection, Target, Work};
use super::sign::{ACCESS_KEY, Draft, SECRET_KEY, Signer};
use super::{KIB, MIB, Own, ROUNDS, SMALL, SPAN, body, over};
use crate::bench::report::Row;

/// The directory bucket of every server.
pub(super) const BUCKET: &str = "bench--use1-az4--x-s3";
const CONNECTIONS: usize = 16;
const SESSIONS_MIN: f64 = 10_000.0;
/// Requests that are signed before they are sent: enough that none comes again within a span.
const SIGNED: usize = 64;
/// Appends of one run, and the parts that an object has at its first.
const APPENDS: usize = 120;
const MANY_PARTS: usize = 9_999 - ROUNDS * APPENDS;
const APPENDERS: usize = 16;
const EACH_APPENDS: usize = 40;

/// Sessions beside plain requests, and signatures with a key pair beside those with a secret.
///
/// # Errors
/// If the server does not start or answer.
pub(super) fn measure_sessions(at: &dyn Fn(&str)) -> Result<Vec<Row>> {
    let own = Own::start()?;
    at("CreateSession");
    let zone = Zone::of(&own.target);
    let create =
        Draft { method: "GET", host: &zone.host, path: "/", query: "session=", ..Draft::default() };
    let account = Signer::of_service("s3express", ACCESS_KEY, SECRET_KEY)?;
    let mut connection = Connection::open(own.target.address)?;
    let size = connection.exchange(&account.sign(&create)?, &[])?;
    let work = Work::Signed { heads: [account.sign(&create)?].into(), body: Bytes::new(), size };
    let created = own.target.rate(&work, CONNECTIONS, SPAN)?;
    let mut rows = vec![Row {
        what: format!("CreateSession, {}", over(CONNECTIONS)),
        value: created,
        unit: "requests/s",
        limit: Some(("10,000 a second".into(), SESSIONS_MIN)),
        expected: Some(1.0),
    }];
    at("requests of a session");
    let small = body(SMALL);
    let session = zone.session()?;
    let fill = Draft { method: "PUT", length: Some(SMALL), ..Draft::default() };
    for key in 0..SIGNED {
        let path = format!("/{key}");
        connection
            .exchange(&session.sign(&Draft { host: &zone.host, path: &path, ..fill })?, &small)?;
        let path = format!("/{}/{key}", load::BUCKET);
        connection.exchange(&own.target.head(&Draft { path: &path, ..fill })?, &small)?;
    }
    let in_session = gets(&session, &zone.host, "")?;
    let host = own.target.address.to_string();
    let plain = gets(&own.target.signer, &host, load::BUCKET)?;
    let pair = gets(&Signer::with_key_pair()?, &host, load::BUCKET)?;
    rows.push(beside(
        &own.target,
        CONNECTIONS,
        ("in a session", &in_session),
        ("plain", &plain),
        0.95,
    )?);
    at("signatures with a key pair");
    for (connections, expected) in [(1, 0.3), (CONNECTIONS, 0.12)] {
        let own_way = ("signed with a key pair (SigV4a)", &pair);
        rows.push(beside(&own.target, connections, own_way, ("SigV4", &plain), expected)?);
    }
    own.server.stop()?;
    Ok(rows)
}

/// Reads of small objects, each signed many times: what a server may keep of a signature serves none of them.
fn gets(signer: &Signer, host: &str, bucket: &str) -> Result<Work> {
    let heads = (0..SIGNED * SIGNED).map(|number| {
        let slash = if bucket.is_empty() { "" } else { "/" };
        let path = format!("{slash}{bucket}/{}", number % SIGNED);
        let query = format!("n={number}");
        signer.sign(&Draft { method: "GET", host, path: &path, query: &query, ..Draft::default() })
    });
    Ok(Work::Signed { heads: heads.collect::<Result<_>>()?, body: Bytes::new(), size: SMALL })
}

/// The rates of two kinds of reads of 4 KiB, turn about.
fn beside(
    target: &Target,
    connections: usize,
    own: (&str, &Work),
    other: (&str, &Work),
    expected: f64,
) -> Result<Row> {
    let (mut value, mut limit) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        value += target.rate(own.1, connections, SPAN)? / 3.0;
        limit += target.rate(other.1, connections, SPAN)? / 3.0;
    }
    Ok(Row {
        what: format!("GET 4 KiB, {}, {}", over(connections), own.0),
        value,
        unit: "requests/s",
        limit: Some((other.0.into(), limit)),
        expected: Some(expected),
    })
}

/// The directory bucket of a server under its own name.
struct Zone<'t> {
    target: &'t Target,
    host: String,
}

impl<'t> Zone<'t> {
    fn of(target: &'t Target) -> Self {
        Self { target, host: format!("{BUCKET}.localhost:{}", target.address.port()) }
    }

    /// A signer in a new session.
    fn session(&self) -> Result<Signer> {
        let create = Draft {
            method: "GET",
            host: &self.host,
            path: "/",
            query: "session=",
            ..Draft::default()
        };
        let account = Signer::of_service("s3express", ACCESS_KEY, SECRET_KEY)?;
        let mut connection = Connection::open(self.target.address)?;
        connection.exchange(&account.sign(&create)?, &[])?;
        let [access_key, secret, token] =
            ["AccessKeyId", "SecretAccessKey", "SessionToken"].map(|name| connection.element(name));
        Signer::of_session(&access_key?, &secret?, &token?)
    }

    /// One who puts objects and appends to them.
    fn writer(&self) -> Result<Writer<'_>> {
        let connection = Connection::open(self.target.address)?;
        Ok(Writer { zone: self, signer: self.session()?, connection })
    }
}

struct Writer<'z> {
    zone: &'z Zone<'z>,
    signer: Signer,
    connection: Connection,
}

impl Writer<'_> {
    fn put(&mut self, path: &str, body: &Bytes, headers: &[(&str, &str)]) -> Result<bool> {
        let length = Some(body.len());
        let host = &self.zone.host;
        let head = self.signer.sign(&Draft {
            method: "PUT",
            host,
            path,
            headers,
            length,
            ..Draft::default()
        })?;
        self.connection.ask(&head, body)?;
        Ok(self.connection.answer.starts_with("http/1.1 200"))
    }

    /// Appends once; tells whether the object had this size.
    fn append(&mut self, path: &str, body: &Bytes, size: usize) -> Result<bool> {
        let size = size.to_string();
        self.put(path, body, &[("x-amz-write-offset-bytes", &size)])
    }

    /// Appends so many times; gives appends a second.
    fn append_all(&mut self, object: &mut Grown, body: &Bytes, count: usize) -> Result<f64> {
        let begun = Instant::now();
        for _ in 0..count {
            let done = self.append(object.path, body, object.size)?;
            ensure!(done, "an append was refused: {}", self.connection.answer);
            object.size += body.len();
        }
        #[expect(clippy::cast_precision_loss, reason = "a few thousand appends")]
        let rate = count as f64 / begun.elapsed().as_secs_f64();
        Ok(rate)
    }

    fn size_of(&mut self, path: &str) -> Result<usize> {
        let host = &self.zone.host;
        let head = self.signer.sign(&Draft { method: "HEAD", host, path, ..Draft::default() })?;
        self.connection.exchange(&head, &[])?;
        Ok(self.connection.field("content-length").context("an object has a size")?.parse()?)
    }
}

/// An object that is appended to.
struct Grown {
    path: &'static str,
    what: &'static str,
    size: usize,
    rate: f64,
}

/// Appends to small, large and many-parted objects beside plain PUTs, and many appenders at one object.
///
/// # Errors
/// If the server does not start or answer, or an append is lost.
pub(super) fn measure_appends(at: &dyn Fn(&str)) -> Result<Vec<Row>> {
    let own = Own::start()?;
    let zone = Zone::of(&own.target);
    let small = body(SMALL);
    at("an object of almost 10,000 parts");
    let grown = |path, what, size| Grown { path, what, size, rate: 0.0 };
    let mut objects = [
        grown("/small", "an object of 4 KiB", SMALL),
        grown("/large", "an object of 1 GiB", 1_024 * MIB),
        grown("/many", "an object of up to 9,999 parts", 0),
    ];
    let mut writer = zone.writer()?;
    ensure!(writer.put("/small", &small, &[])?, "refused: {}", writer.connection.answer);
    ensure!(
        writer.put("/large", &body(1_024 * MIB), &[])?,
        "refused: {}",
        writer.connection.answer
    );
    for object in objects.iter_mut().filter(|object| object.size == 0) {
        writer.append_all(object, &small, MANY_PARTS)?;
    }
    at("appends");
    let mut writer = zone.writer()?;
    let mut plain = 0.0;
    for round in 0..ROUNDS {
        let begun = Instant::now();
        for number in 0..APPENDS {
            let path = format!("/plain/{round}/{number}");
            ensure!(writer.put(&path, &small, &[])?, "refused: {}", writer.connection.answer);
        }
        #[expect(clippy::cast_precision_loss, reason = "a few thousand PUTs")]
        let rate = APPENDS as f64 / begun.elapsed().as_secs_f64();
        plain += rate / 3.0;
        for object in &mut objects {
            object.rate += writer.append_all(object, &small, APPENDS)? / 3.0;
        }
    }
    let quickest = objects.iter().map(|object| object.rate).fold(0.0, f64::max);
    let mut rows = Vec::new();
    for object in &objects {
        let row = |limit: (&str, f64), expected| Row {
            what: format!("append of 4 KiB to {}, 1 connection", object.what),
            value: object.rate,
            unit: "requests/s",
            limit: Some((limit.0.into(), limit.1)),
            expected: Some(expected),
        };
        rows.push(row(("PUT 4 KiB, 1 connection", plain), 0.7));
        rows.push(row(("the quickest of the three", quickest), 1.0 / 1.5));
    }
    at("16 appenders of one object");
    rows.push(appenders(&zone)?);
    own.server.stop()?;
    Ok(rows)
}

/// Appenders at one object, who look at its size again when another was quicker; nothing of theirs may be lost.
fn appenders(zone: &Zone<'_>) -> Result<Row> {
    let (asked, begun) = (AtomicUsize::new(0), Instant::now());
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..APPENDERS)
            .map(|_| {
                let asked = &asked;
                scope.spawn(move || {
                    let (mut writer, own, mut done) = (zone.writer()?, body(4 * KIB), 0);
                    let mut size = 0;
                    while done < EACH_APPENDS {
                        asked.fetch_add(1, Ordering::Relaxed);
                        if writer.append("/shared", &own, size)? {
                            (done, size) = (done + 1, size + own.len());
                        } else {
                            size = writer.size_of("/shared")?;
                        }
                    }
                    Ok::<_, anyhow::Error>(())
                })
            })
            .collect();
        all.into_iter()
            .try_for_each(|one| one.join().map_err(|_| anyhow!("an appender panicked"))?)
    })?;
    let (count, took) = (APPENDERS * EACH_APPENDS, begun.elapsed().as_secs_f64());
    let size = zone.writer()?.size_of("/shared")?;
    ensure!(size == count * SMALL, "{size} bytes are left of {count} appends");
    #[expect(clippy::cast_precision_loss, reason = "a few thousand appends")]
    let [count, asked] = [count as f64, asked.into_inner() as f64];
    Ok(Row {
        what: format!("{APPENDERS} appenders of one object, {asked} tries: appends that are there"),
        value: count / took,
        unit: "appends/s",
        limit: None,
        expected: None,
    })
}
