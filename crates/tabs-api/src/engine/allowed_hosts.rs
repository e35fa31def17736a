//! The hosts whose pages may be fetched, and the addresses that they may have.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Hosts whose pages may be fetched. Empty, nothing is.
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts(Vec<Entry>);

/// One entry of the list: `example.com`, `*.example.com`, `example.com:8080`, `name=10.0.0.5`.
#[derive(Debug, Clone)]
struct Entry {
    name: Name,
    port: Port,
    /// The only address that it may have; without one any public address will do.
    address: Option<IpAddr>,
}

#[derive(Debug, Clone)]
enum Name {
    /// This host.
    Exact(String),
    /// Every host below this one, and this one.
    Below(String),
    /// Every host.
    Any,
}

#[derive(Debug, Clone, Copy)]
enum Port {
    /// The scheme's own: 80 or 443.
    OfScheme,
    Number(u16),
    Any,
}

impl AllowedHosts {
    /// Reads a list.
    ///
    /// # Errors
    /// A sentence that names the entry that cannot be read.
    pub fn parse<'e>(entries: impl IntoIterator<Item = &'e str>) -> Result<Self, String> {
        entries.into_iter().map(Entry::parse).collect::<Result<_, _>>().map(Self)
    }

    /// True if nothing may be fetched.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if the page of an address may be fetched at all.
    #[must_use]
    pub fn allows(&self, url: &Url) -> bool {
        matches!(url.scheme(), "http" | "https") && self.0.iter().any(|entry| entry.covers(url))
    }

    /// The address that an entry of the list gives this host, so that nothing is looked up.
    #[must_use]
    pub fn pinned(&self, url: &Url) -> Option<IpAddr> {
        let mut entries = self.0.iter().filter(|entry| entry.covers(url));
        entries.find_map(|entry| entry.address)
    }

    /// True if a host may be reached at this address: a public one, or one that the list names.
    #[must_use]
    pub fn allows_address(&self, url: &Url, address: IpAddr) -> bool {
        is_public(address)
            || self.0.iter().any(|entry| entry.address == Some(address) && entry.covers(url))
    }
}

impl Entry {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is no allowed host: write example.com, *.example.com, example.com:8080 or name=address"
            )
        };
        let (host, address) = match text.split_once('=') {
            Some((host, address)) => (host, Some(address.parse::<IpAddr>().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let (host, port) = match host.rsplit_once(':') {
            Some((host, "*")) => (host, Port::Any),
            Some((host, port)) if !host.ends_with(':') && !port.ends_with(']') => {
                (host, Port::Number(port.parse().map_err(|_| wrong())?))
            }
            _ => (host, Port::OfScheme),
        };
        let (below, host) = match host.strip_prefix("*.") {
            Some(host) => (true, host),
            None => (false, host),
        };
        if host == "*" && !below {
            return Ok(Self { name: Name::Any, port, address });
        }
        let host = Host::parse(host).map_err(|_| wrong())?;
        // A literal address names itself.
        let own = match &host {
            Host::Ipv4(own) => Some(IpAddr::V4(*own)),
            Host::Ipv6(own) => Some(IpAddr::V6(*own)),
            Host::Domain(_) => None,
        };
        let text = host.to_string().trim_end_matches('.').to_owned();
        let name = if below { Name::Below(text) } else { Name::Exact(text) };
        Ok(Self { name, port, address: address.or(own) })
    }

    fn covers(&self, url: &Url) -> bool {
        let Some(host) = url.host().map(|host| host.to_string()) else {
            return false;
        };
        let host = host.trim_end_matches('.');
        let is_named = match &self.name {
            Name::Any => true,
            Name::Exact(name) => host == name,
            Name::Below(name) => host
                .strip_suffix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.')),
        };
        is_named
            && match self.port {
                Port::Any => true,
                Port::OfScheme => url.port().is_none(),
                Port::Number(port) => url.port_or_known_default() == Some(port),
            }
    }
}

/// True if an address belongs to the public internet: not to this machine, this network, or a purpose of its own.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => {
            embedded(address).map_or_else(|| is_public_v6(address), is_public_v4)
        }
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (198, 18..=19, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    // Only 2000::/3 is given out; Teredo, ORCHID and the documentation's addresses are not the public's.
    first & 0xe000 == 0x2000
        && !(first == 0x2001 && (second < 0x0200 || second == 0x0db8))
        && !(first == 0x3fff && second < 0x1000)
}

/// The IPv4 address that an IPv6 one stands for: mapped, compatible, translated or 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let [high, low] = match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0 | 0xffff) | (0, 0, 0, 0, 0xffff, 0) | (0x64, 0xff9b, 0, 0, 0, 0) => {
            [g, h]
        }
        (0x2002, ..) => [b, c],
        _ => return None,
    };
    let ([one, two], [three, four]) = (high.to_be_bytes(), low.to_be_bytes());
    Some(Ipv4Addr::new(one, two, three, four))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn only_what_the_list_names_is_allowed() {
        let list = ["example.com", "*.docs.test", "local.test:8080=127.0.0.1", "10.0.0.5:*"];
        let hosts = AllowedHosts::parse(list).unwrap();
        for good in [
            "http://example.com/",
            "https://EXAMPLE.com./x",
            "https://docs.test/",
            "https://a.b.docs.test/",
            "http://local.test:8080/",
            "http://10.0.0.5:99/",
        ] {
            assert!(hosts.allows(&url(good)), "{good}");
        }
        for bad in [
            "http://www.example.com/",
            "http://example.com:8080/",
            "http://evildocs.test/",
            "http://local.test/",
            "ftp://example.com/",
            "file:///etc/passwd",
            "http://example.com.evil.test/",
        ] {
            assert!(!hosts.allows(&url(bad)), "{bad}");
        }
        assert!(!AllowedHosts::default().allows(&url("http://example.com/")));
        for wrong in ["", "a b", "example.com:x", "a=b", "*.", "http://x/"] {
            assert!(AllowedHosts::parse([wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn private_addresses_are_reached_only_where_they_are_named() {
        let hosts = AllowedHosts::parse(["*:*", "local.test=127.0.0.1", "192.168.7.7"]).unwrap();
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.31.0.1",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
        ] {
            assert!(
                !hosts.allows_address(&url("http://any.test/"), private.parse().unwrap()),
                "{private}"
            );
        }
        for public in ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1"] {
            assert!(
                hosts.allows_address(&url("http://any.test/"), public.parse().unwrap()),
                "{public}"
            );
        }
        assert!(hosts.allows_address(&url("http://local.test/"), "127.0.0.1".parse().unwrap()));
        assert!(!hosts.allows_address(&url("http://local.test/"), "127.0.0.2".parse().unwrap()));
        assert!(hosts.allows_address(&url("http://192.168.7.7/"), "192.168.7.7".parse().unwrap()));
        // However an address is spelt, it is the same one.
        assert!(!hosts.allows_address(&url("http://0x7f.1/"), "127.0.0.1".parse().unwrap()));
    }
}
