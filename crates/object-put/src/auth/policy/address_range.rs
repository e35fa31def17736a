//! A range of internet addresses, as policies write one: `203.0.113.0/24`, `2001:db8::/32`, or one address.

use std::net::IpAddr;

/// A range of internet addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AddressRange {
    first: IpAddr,
    /// Bits that all of its addresses have in common.
    prefix: u32,
}

impl AddressRange {
    /// Reads one; bits of the address beyond its prefix count for nothing.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let first: IpAddr = address.parse().ok()?;
        let most = if first.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => most,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().ok()?
            }
            Some(_) => return None,
        };
        (prefix <= most).then_some(Self { first, prefix })
    }

    /// Tells whether an address is in it.
    pub(super) fn takes(self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                let differs = u128::from(first.to_bits() ^ address.to_bits());
                differs.checked_shr(32 - self.prefix).unwrap_or_default() == 0
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                let differs = first.to_bits() ^ address.to_bits();
                differs.checked_shr(128 - self.prefix).unwrap_or_default() == 0
            }
            _ => false,
        }
    }

    /// Tells whether it is narrower than what the real service calls public: /8 of IPv4, /32 of IPv6, but for private networks.
    pub(super) fn is_narrow(self) -> bool {
        self.prefix >= if self.first.is_ipv4() { 8 } else { 32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_takes_the_addresses_that_begin_as_it_does() {
        for (range, address, expected) in [
            ("203.0.113.0/24", "203.0.113.255", true),
            ("203.0.113.0/24", "203.0.114.0", false),
            ("203.0.113.7", "203.0.113.7", true),
            ("203.0.113.7", "203.0.113.6", false),
            ("0.0.0.0/0", "255.1.2.3", true),
            ("0.0.0.0/0", "::1", false),
            ("2001:db8::/32", "2001:db8:1::5", true),
            ("2001:db8::/32", "2001:db9::", false),
            ("::/0", "ffff::", true),
        ] {
            let found = AddressRange::parse(range).unwrap();
            assert_eq!(found.takes(address.parse().unwrap()), expected, "{range} {address}");
        }
    }

    #[test]
    fn what_is_no_range_is_not_read() {
        for text in
            ["", "x", "1.2.3", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/-1", "1.2.3.4/+8", "::/129"]
        {
            assert_eq!(AddressRange::parse(text), None, "{text}");
        }
    }
}
