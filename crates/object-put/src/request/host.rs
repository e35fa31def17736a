//! The names under which the service is reached, and what stands before them in the host of a request.

use std::net::IpAddr;

/// The kinds of names of the service: what may stand before one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostKind {
    /// Buckets of any kind.
    Base,
    /// Directory buckets alone.
    Zonal,
    /// Websites of buckets.
    Website,
    /// Access points, by name and account.
    AccessPoint,
    /// Access points in deployments on premises, by name, account and deployment.
    OnPremises,
}

/// A name of the service with something before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualHost {
    /// The kind of the name.
    pub kind: HostKind,
    /// The labels before it, in lower case.
    pub label: String,
}

/// The names of the service. `localhost` is one always; any other host serves path style, so that the service can be reached by whatever
/// name its network gives it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostTable(Vec<(HostKind, String)>);

impl HostTable {
    /// Adds names of one kind, with their port or without.
    pub fn add(&mut self, kind: HostKind, names: impl IntoIterator<Item = String>) {
        self.0.extend(names.into_iter().map(|name| (kind, without_port(&name).to_owned())));
    }

    /// The name that a host ends with, and what stands before it; `None` for path style. Of several that fit the longest counts, of two
    /// kinds with one name the one that was added first.
    #[must_use]
    pub fn find(&self, host: &str) -> Option<VirtualHost> {
        let name = without_port(host);
        if name.parse::<IpAddr>().is_ok() {
            return None;
        }
        let fitting = self.rows().filter_map(|(kind, own)| {
            let (label, end) = name.split_at_checked(name.len().checked_sub(own.len())?)?;
            let fits = end.eq_ignore_ascii_case(own) && (label.is_empty() || label.ends_with('.'));
            fits.then_some((kind, label))
        });
        // One that is the whole host leaves nothing before it.
        let (kind, label) = fitting.min_by_key(|(_, label)| label.len())?;
        let label = label.strip_suffix('.').filter(|label| !label.is_empty())?;
        Some(VirtualHost { kind, label: label.to_ascii_lowercase() })
    }

    /// The labels before the name of a website that a host ends with. Where no website has a name, no host is looked at.
    #[must_use]
    pub fn website(&self, host: &str) -> Option<String> {
        let has_any = self.0.iter().any(|(kind, _)| *kind == HostKind::Website);
        let found = has_any.then(|| self.find(host)).flatten();
        found.filter(|found| found.kind == HostKind::Website).map(|found| found.label)
    }

    /// Tells whether a host is one of the names itself.
    #[must_use]
    pub fn is_own(&self, host: &str) -> bool {
        self.rows().any(|(_, own)| own.eq_ignore_ascii_case(without_port(host)))
    }

    fn rows(&self) -> impl Iterator<Item = (HostKind, &str)> {
        let given = self.0.iter().map(|(kind, name)| (*kind, name.as_str()));
        std::iter::once((HostKind::Base, "localhost")).chain(given)
    }
}

/// The name of a host without its port, and without the dot of the root of all names (RFC 3986 §3.2.2), which says nothing else.
fn without_port(host: &str) -> &str {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_names_that_fit_the_longer_counts() {
        for bases in [["example", "s3.example"], ["s3.example", "example"]] {
            let mut hosts = HostTable::default();
            hosts.add(HostKind::Base, bases.map(str::to_owned));
            hosts.add(HostKind::Zonal, ["zone.s3.example:443".to_owned(), "example".to_owned()]);
            let base = |label| Some((HostKind::Base, label));
            for (host, expected) in [
                ("b.s3.example", base("b")),
                ("s3.example:80", None),
                ("b.example", base("b")),
                ("xs3.example", base("xs3")),
                ("b.zone.s3.example", Some((HostKind::Zonal, "b"))),
                ("example", None),
                (".example", None),
                ("B.LOCALHOST:1", base("b")),
                ("b.s3.example.", base("b")),
                ("b.s3.example.:80", base("b")),
                ("s3.example.", None),
                ("10.0.0.1", None),
                ("elsewhere", None),
            ] {
                let found = hosts.find(host);
                let found = found.as_ref().map(|found| (found.kind, found.label.as_str()));
                assert_eq!(found, expected, "{host} {bases:?}");
            }
            assert!(hosts.is_own("s3.EXAMPLE:80") && !hosts.is_own("b.example"));
        }
    }

    #[test]
    fn a_website_is_found_where_its_name_is_the_longest_that_fits() {
        let mut hosts = HostTable::default();
        hosts.add(HostKind::Base, ["example".to_owned(), "s3.web.example".to_owned()]);
        assert_eq!(hosts.website("b.web.example"), None);
        hosts.add(HostKind::Website, ["web.example".to_owned()]);
        for (host, expected) in [
            ("b.web.example:80", Some("b")),
            ("web.example", None),
            ("b.example", None),
            ("b.s3.web.example", None),
            ("10.0.0.1", None),
        ] {
            assert_eq!(hosts.website(host).as_deref(), expected, "{host}");
        }
    }
}
