//! The modes of encryption beside the service-managed keys that every object gets without a word.

use anyhow::Result;
use hyper::body::Bytes;

use super::load::{BUCKET, Connection, Target, Work};
use super::sign::Draft;
use super::{MIB, Own, ROUNDS, SMALL, SPAN, body, over, put_on_disk, shown};
use crate::bench::report::Row;

type Headers = &'static [(&'static str, &'static str)];

/// A mode, and the share of the rate of service-managed keys that it keeps.
struct Mode {
    name: &'static str,
    writes: Headers,
    reads: Headers,
    expected: f64,
}

const SERVICE_MANAGED: Mode =
    Mode { name: "service-managed keys", writes: &[], reads: &[], expected: 1.0 };
const MODE: &str = "x-amz-server-side-encryption";
const CUSTOMER: Headers = &[
    ("x-amz-server-side-encryption-customer-algorithm", "AES256"),
    ("x-amz-server-side-encryption-customer-key", "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="),
    ("x-amz-server-side-encryption-customer-key-md5", "mT2HRsMGJ5IX5C+0rreZ8Q=="),
];
const OF_LARGE: [Mode; 3] = [
    Mode { name: "key-management keys", writes: &[(MODE, "aws:kms")], reads: &[], expected: 0.95 },
    Mode { name: "customer keys", writes: CUSTOMER, reads: CUSTOMER, expected: 0.95 },
    Mode { name: "dual layers", writes: &[(MODE, "aws:kms:dsse")], reads: &[], expected: 0.7 },
];
const BUCKET_KEYS: Mode = Mode {
    name: "key-management keys with bucket keys",
    writes: &[(MODE, "aws:kms"), ("x-amz-server-side-encryption-bucket-key-enabled", "true")],
    reads: &[],
    expected: 0.9,
};
const LARGE_BYTES: usize = 64 * MIB;
const LARGE_CONNECTIONS: usize = 4;
const LARGE_KEYS: usize = 8;
const SMALL_CONNECTIONS: usize = 16;
const SMALL_KEYS: usize = 2_048;

/// PUT and GET of large bodies in each mode, and of small ones with bucket keys.
///
/// # Errors
/// If the server does not start or answer.
pub(super) fn measure(at: &dyn Fn(&str)) -> Result<Vec<Row>> {
    let own = Own::start()?;
    let (large, small) = (body(LARGE_BYTES), body(SMALL));
    let mut rows = Vec::new();
    for mode in &OF_LARGE {
        at(mode.name);
        rows.extend(beside(&own.target, mode, &large, LARGE_CONNECTIONS, LARGE_KEYS)?);
    }
    at(BUCKET_KEYS.name);
    rows.extend(beside(&own.target, &BUCKET_KEYS, &small, SMALL_CONNECTIONS, SMALL_KEYS)?);
    own.server.stop()?;
    Ok(rows)
}

/// A mode beside service-managed keys, turn about.
fn beside(
    target: &Target,
    mode: &Mode,
    body: &Bytes,
    connections: usize,
    keys: usize,
) -> Result<Vec<Row>> {
    ["PUT", "GET"]
        .into_iter()
        .map(|method| {
            if method == "GET" {
                fill(target, &[mode, &SERVICE_MANAGED], body, keys)?;
            }
            let works = [
                work(target, method, mode, body, keys)?,
                work(target, method, &SERVICE_MANAGED, body, keys)?,
            ];
            let mut rates = [0.0; 2];
            for _ in 0..ROUNDS {
                for (rate, work) in rates.iter_mut().zip(&works) {
                    put_on_disk()?;
                    *rate += target.rate(work, connections, SPAN)? / 3.0;
                }
            }
            let [own, plain] = rates;
            Ok(Row {
                what: format!(
                    "{method} {}, {}, {}",
                    shown(body.len()),
                    over(connections),
                    mode.name
                ),
                value: own,
                unit: "requests/s",
                limit: Some((SERVICE_MANAGED.name.into(), plain)),
                expected: Some(mode.expected),
            })
        })
        .collect()
}

/// Puts each object of these modes once: on a slow disk the PUTs that are measured do not come to all of them.
fn fill(target: &Target, modes: &[&Mode], body: &Bytes, keys: usize) -> Result<()> {
    let mut connection = Connection::open(target.address)?;
    for mode in modes {
        for key in 0..keys {
            connection.exchange(&head(target, "PUT", mode, body, key)?, body)?;
        }
    }
    Ok(())
}

fn work(target: &Target, method: &str, mode: &Mode, body: &Bytes, keys: usize) -> Result<Work> {
    let heads = (0..keys).map(|key| head(target, method, mode, body, key));
    let heads = heads.collect::<Result<_>>()?;
    Ok(match method == "PUT" {
        true => Work::Signed { heads, body: body.clone(), size: 0 },
        false => Work::Signed { heads, body: Bytes::new(), size: body.len() },
    })
}

fn head(target: &Target, method: &str, mode: &Mode, body: &Bytes, key: usize) -> Result<String> {
    let path = format!("/{BUCKET}/{}/{key}", mode.name.replace(' ', "-"));
    let is_put = method == "PUT";
    let headers = if is_put { mode.writes } else { mode.reads };
    let length = is_put.then_some(body.len());
    target.head(&Draft { method, path: &path, headers, length, ..Draft::default() })
}
