//! The forms of the page of metrics: OpenMetrics 1.0, as it is encoded, and Prometheus text 0.0.4, made of that.

use std::borrow::Cow;
use std::collections::HashMap;

use http::{HeaderMap, header};

/// A form in which metrics are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host) enum Exposition {
    OpenMetrics,
    Prometheus,
}

impl Exposition {
    /// The form that a request wants: OpenMetrics where its `Accept` names that, and likes no plain text better.
    pub(in crate::host) fn wanted(headers: &HeaderMap) -> Self {
        let values = headers.get_all(header::ACCEPT).into_iter();
        let text = values.filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join(",");
        let weight = |name| {
            text.split(',').filter_map(|range| weight_of(range, name)).max_by(f64::total_cmp)
        };
        match (weight("application/openmetrics-text"), weight("text/plain")) {
            (Some(metrics), plain) if metrics > 0.0 && metrics >= plain.unwrap_or(0.0) => {
                Self::OpenMetrics
            }
            _ => Self::Prometheus,
        }
    }

    pub(in crate::host) const fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// The page in this form, of the page as it is encoded.
    pub(in crate::host) fn of(self, open_metrics: String) -> String {
        match self {
            Self::OpenMetrics => open_metrics,
            Self::Prometheus => prometheus(&open_metrics),
        }
    }
}

/// The weight of a media range, if it is that of `name`, in a version that is spoken here.
fn weight_of(range: &str, name: &str) -> Option<f64> {
    let mut parts = range.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case(name) {
        return None;
    }
    let mut weight = 1.0;
    for parameter in parts {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = value.trim().trim_matches('"');
        match name.trim().to_ascii_lowercase().as_str() {
            "q" => {
                weight = value.parse().ok().filter(|share| (0.0..=1.0).contains(share))?;
            }
            "version" if !["1.0.0", "0.0.1", "0.0.4"].contains(&value) => return None,
            _ => {}
        }
    }
    Some(weight)
}

/// Prometheus text 0.0.4: a name in HELP and TYPE is that of its samples, and there is no mark of the end.
fn prometheus(open_metrics: &str) -> String {
    let described = |line: &str, word: &str| {
        let (name, rest) = line.strip_prefix(word)?.split_once(' ')?;
        Some((name.to_owned(), rest.to_owned()))
    };
    let types: HashMap<_, _> =
        open_metrics.lines().filter_map(|line| described(line, "# TYPE ")).collect();
    let sampled = |name: &str| -> Cow<'_, str> {
        match types.get(name).map(String::as_str) {
            Some("counter") => format!("{name}_total").into(),
            Some("info") => format!("{name}_info").into(),
            _ => name.to_owned().into(),
        }
    };
    let mut out = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines() {
        let line: Cow<'_, str> = if let Some((name, help)) = described(line, "# HELP ") {
            // Quotation marks are escaped in the help of OpenMetrics alone.
            format!("# HELP {} {}", sampled(&name), help.replace("\\\"", "\"")).into()
        } else if let Some((name, kind)) = described(line, "# TYPE ") {
            let kind = match kind.as_str() {
                known @ ("counter" | "gauge" | "histogram" | "summary") => known,
                "info" | "stateset" => "gauge",
                _ => "untyped",
            };
            format!("# TYPE {} {kind}", sampled(&name)).into()
        } else if line.starts_with('#') {
            continue;
        } else {
            line.into()
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use prometheus_client::metrics::gauge::Gauge;

    use super::*;
    use crate::host::ops::Metrics;

    fn page() -> String {
        let metrics = Metrics::new();
        metrics.begin();
        metrics.end("Get", 200, std::time::Duration::from_millis(3));
        metrics.panicked();
        metrics.register("own", "A \"gauge\" of a service", Gauge::<i64>::default());
        metrics.calls_to("other").count("Ask", "ok", std::time::Duration::from_secs(20));
        metrics.text()
    }

    /// The name of a sample without what its type adds, and without its labels.
    fn family<'l>(line: &'l str, types: &BTreeMap<&'l str, &'l str>) -> &'l str {
        let name = line.split(['{', ' ']).next().unwrap_or(line);
        let of_histogram = ["_bucket", "_sum", "_count"].iter().find_map(|end| {
            name.strip_suffix(end).filter(|base| types.get(base) == Some(&"histogram"))
        });
        of_histogram.unwrap_or(name)
    }

    #[test]
    fn each_sample_of_prometheus_text_has_the_help_and_the_type_of_its_own_name_before_it() {
        let text = Exposition::Prometheus.of(page());
        let (mut helped, mut types, mut sampled) =
            (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        for line in text.lines() {
            let words: Vec<_> = line.splitn(4, ' ').collect();
            match words[..] {
                ["#", "HELP", name, _] => assert!(helped.insert(name), "{line}"),
                ["#", "TYPE", name, kind] => {
                    assert!(["counter", "gauge", "histogram", "untyped"].contains(&kind), "{line}");
                    assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                    assert!(types.insert(name, kind).is_none(), "{line}");
                }
                ["#", ..] => assert_eq!(line, "", "a comment that nobody reads"),
                _ => {
                    let name = family(line, &types);
                    assert!(helped.contains(name) && types.contains_key(name), "{line}");
                    assert!(line.rsplit(' ').next().unwrap().parse::<f64>().is_ok(), "{line}");
                    sampled.insert(name);
                }
            }
        }
        assert_eq!(sampled, types.keys().copied().collect(), "each type has samples");
        assert!(
            types.contains_key("http_requests_total") && types.contains_key("other_calls_total")
        );
        assert!(text.contains("# HELP own A \"gauge\" of a service"), "{text}");
    }

    #[test]
    fn openmetrics_is_answered_where_it_is_asked_for_and_ends_with_its_mark() {
        let wanted = |accepts: &[&str]| {
            let mut headers = HeaderMap::new();
            for accept in accepts {
                headers.append(header::ACCEPT, accept.parse().unwrap());
            }
            Exposition::wanted(&headers)
        };
        let (metrics, plain) = (Exposition::OpenMetrics, Exposition::Prometheus);
        for (accepts, expected) in [
            (&[][..], plain),
            (&["*/*"], plain),
            (&["text/plain"], plain),
            (&["application/openmetrics-text"], metrics),
            (&["text/plain;q=0.5", "Application/OpenMetrics-Text; version=1.0.0; q=0.5"], metrics),
            (
                &[
                    "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.9",
                ],
                plain,
            ),
            (&["application/openmetrics-text;q=0, text/plain;q=0.1"], plain),
            (&["application/openmetrics-text;version=2.0.0,*/*"], plain),
            (
                &[
                    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,*/*;q=0.1",
                ],
                metrics,
            ),
        ] {
            assert_eq!(wanted(accepts), expected, "{accepts:?}");
        }
        assert!(metrics.of(page()).ends_with("# EOF\n"));
        assert!(!plain.of(page()).contains("# EOF"));
    }
}
