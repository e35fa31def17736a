//! The last thousand requests, for whoever wants to see what a client really sent. Secrets are taken out.

use std::collections::VecDeque;
use std::fmt::Display;

use http::Method;
use parking_lot::Mutex;
use serde::{Serialize, Serializer};

use crate::time::Timestamp;

const KEPT: usize = 1_000;
const TARGET_BYTES_MAX: usize = 512;
/// Parameters that hold a secret in any service: of OAuth, and of signed links. A service has more of its own.
const SECRET_PARAMETERS: &[&str] = &[
    "key",
    "access_token",
    "oauth_token",
    "token",
    "code",
    "refresh_token",
    "client_secret",
    "assertion",
    "signature",
];

/// One answered request.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::host) struct LoggedRequest {
    #[serde(serialize_with = "shown")]
    pub(in crate::host) time: Timestamp,
    pub(in crate::host) id: String,
    #[serde(serialize_with = "shown")]
    pub(in crate::host) method: Method,
    pub(in crate::host) host: String,
    pub(in crate::host) target: String,
    pub(in crate::host) operation: &'static str,
    pub(in crate::host) status: u16,
    pub(in crate::host) micros: u64,
}

fn shown<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

#[derive(Debug, Default)]
pub(in crate::host) struct RequestLog(Mutex<VecDeque<LoggedRequest>>);

impl RequestLog {
    /// Notes a request, which `fill` writes over the oldest: each keeps its memory, so that a busy service allocates nothing here.
    pub(in crate::host) fn push(&self, fill: impl FnOnce(&mut LoggedRequest)) {
        let mut ring = self.0.lock();
        let oldest = (ring.len() == KEPT).then(|| ring.pop_front()).flatten();
        let mut request = oldest.unwrap_or_default();
        fill(&mut request);
        // A host name may be as long as a head.
        request.host.shrink_to(TARGET_BYTES_MAX);
        ring.push_back(request);
    }

    pub(in crate::host) fn clear(&self) {
        self.0.lock().clear();
    }

    pub(in crate::host) fn list(&self) -> Vec<LoggedRequest> {
        self.0.lock().iter().cloned().collect()
    }
}

/// A target whose secret query values, also those of the service's `own` parameters, are replaced by `...`; at most 512 bytes of it.
pub(in crate::host) fn redact(target: &str, own: &[&str]) -> String {
    let is_secret = |name: &str| {
        SECRET_PARAMETERS.iter().chain(own).any(|secret| name.eq_ignore_ascii_case(secret))
    };
    let (path, query) =
        target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let mut out = String::with_capacity(target.len().min(520));
    out.push_str(path);
    for (place, pair) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
        out.push(if place == 0 { '?' } else { '&' });
        match pair.split_once('=') {
            Some((name, _)) if is_secret(name) => {
                out.push_str(name);
                out.push_str("=...");
            }
            _ => out.push_str(pair),
        }
    }
    if out.len() > TARGET_BYTES_MAX {
        out.truncate(out.floor_char_boundary(TARGET_BYTES_MAX));
        out.push_str("...");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_a_query_are_taken_out() {
        assert_eq!(
            redact("/a?key=s3cret&part=id&X-Own-Signature=ff", &["x-own-signature"]),
            "/a?key=...&part=id&X-Own-Signature=..."
        );
        assert_eq!(redact("/a?list-type=2", &[]), "/a?list-type=2");
        assert_eq!(redact("/plain", &[]), "/plain");
    }

    #[test]
    fn only_the_last_thousand_are_kept() {
        let requests = RequestLog::default();
        for number in 0..1_500_u64 {
            requests.push(|request| request.micros = number);
        }
        let list = requests.list();
        assert_eq!((list.len(), list[0].micros), (1_000, 500));
    }
}
