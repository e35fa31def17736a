//! Scopes of credentials: the day, the region and the service that a signature is for.

use crate::auth::key_pair::takes_region;
use crate::error::Error;
use crate::request::dialect::Dialect;

/// The scope that credentials must have where a request is going.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceScope<'a> {
    /// The region of the service.
    pub region: &'a str,
    /// True for what is on premises: a service of its own, for which alone requests are signed there and nowhere else.
    pub on_premises: bool,
}

impl ServiceScope<'_> {
    /// The access key and the scope of a credential.
    pub(crate) fn read_credential<'r>(
        &self,
        text: &'r str,
        dialect: Dialect,
    ) -> Result<(&'r str, &'r str), Error> {
        let names = dialect.names();
        let mut parts = text.rsplitn(5, '/');
        let [Some(end), Some(service), Some(of_region), Some(date), Some(access_key)] =
            [(); 5].map(|()| parts.next())
        else {
            return Err(malformed(format!(
                "the Credential is mal-formed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/{}\".",
                names.scope_end
            )));
        };
        check_access_key(access_key)?;
        check_day(date)?;
        if of_region != self.region {
            return Err(Error::AuthorizationHeaderMalformed {
                reason: format!("the region '{of_region}' is wrong; expecting '{}'", self.region),
                region: Some(self.region.to_owned()),
            });
        }
        self.check_service(service, end, dialect)?;
        let scope = text.get(access_key.len() + 1..).unwrap_or_default();
        Ok((access_key, scope))
    }

    /// The access key and the scope of a credential that names no region: `regions` is the set that it is for.
    pub(crate) fn read_credential_of_all<'r>(
        &self,
        text: &'r str,
        dialect: Dialect,
        regions: Option<&str>,
    ) -> Result<(&'r str, &'r str), Error> {
        let names = dialect.names();
        let mut parts = text.rsplitn(4, '/');
        let [Some(end), Some(service), Some(date), Some(access_key)] =
            [(); 4].map(|()| parts.next())
        else {
            return Err(malformed(format!(
                "the Credential is mal-formed; expecting \"<YOUR-AKID>/YYYYMMDD/SERVICE/{}\".",
                names.scope_end
            )));
        };
        check_access_key(access_key)?;
        check_day(date)?;
        self.check_service(service, end, dialect)?;
        let regions = regions.ok_or_else(|| malformed("the region set is missing"))?;
        if !takes_region(regions, self.region) {
            return Err(Error::AuthorizationHeaderMalformed {
                reason: format!(
                    "the region set is wrong; expecting one that takes '{}'",
                    self.region
                ),
                region: Some(self.region.to_owned()),
            });
        }
        Ok((access_key, text.get(access_key.len() + 1..).unwrap_or_default()))
    }

    /// Checks the service and the end of a scope.
    fn check_service(&self, service: &str, end: &str, dialect: Dialect) -> Result<(), Error> {
        let names = dialect.names();
        let services = match self.on_premises {
            true => names.on_premises_services,
            false => names.scope_services,
        };
        if !services.contains(&service) {
            return Err(malformed(format!(
                "incorrect service \"{service}\". This endpoint belongs to \"{}\".",
                services.first().copied().unwrap_or_default()
            )));
        }
        if end != names.scope_end {
            return Err(malformed(format!(
                "incorrect terminal \"{end}\". This endpoint uses \"{}\".",
                names.scope_end
            )));
        }
        Ok(())
    }
}

pub(super) fn malformed(reason: impl Into<String>) -> Error {
    Error::AuthorizationHeaderMalformed { reason: reason.into(), region: None }
}

/// Checks that a credential names an access key.
fn check_access_key(access_key: &str) -> Result<(), Error> {
    match access_key {
        "" => Err(malformed("a non-empty Access Key (AKID) must be provided in the credential.")),
        _ => Ok(()),
    }
}

/// Checks the day of a scope.
fn check_day(date: &str) -> Result<(), Error> {
    if date.len() != 8 || !date.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(malformed(format!(
            "incorrect date format \"{date}\". This date in the credential must be in the format \"yyyyMMdd\"."
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_premises_takes_its_own_service_and_nothing_else_takes_it() {
        for (dialect, services, of_premises) in [
            (Dialect::Amz, &["s3", "s3express"][..], &["s3-outposts"][..]),
            (
                Dialect::Store,
                &["s3", "store", "s3express"][..],
                &["s3-outposts", "store-outposts"][..],
            ),
        ] {
            let others = ["", "S3", "s3-outposts ", "kms", "outposts"];
            let end = dialect.names().scope_end;
            for service in services.iter().chain(of_premises).chain(&others) {
                for on_premises in [false, true] {
                    let here = ServiceScope { region: "r-1", on_premises };
                    let own = if on_premises { of_premises } else { services };
                    let of_region = format!("AK/20261123/r-1/{service}/{end}");
                    let of_all = format!("AK/20261123/{service}/{end}");
                    let seen = [
                        here.read_credential(&of_region, dialect).is_ok(),
                        here.read_credential_of_all(&of_all, dialect, Some("*")).is_ok(),
                    ];
                    let takes = own.contains(service);
                    assert_eq!(seen, [takes, takes], "{dialect:?} {service} {on_premises}");
                }
            }
        }
    }

    #[test]
    fn a_credential_names_an_access_key() {
        let here = ServiceScope { region: "r-1", on_premises: false };
        let expected =
            Err(malformed("a non-empty Access Key (AKID) must be provided in the credential."));
        let of_region = "/20261123/r-1/s3/aws4_request";
        assert_eq!(here.read_credential(of_region, Dialect::Amz), expected);
        let of_all = "/20261123/s3/aws4_request";
        assert_eq!(here.read_credential_of_all(of_all, Dialect::Amz, Some("*")), expected);
    }
}
