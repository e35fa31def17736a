//! The region that a new bucket may be asked for in: that of the service.

use crate::error::Error;

/// The oldest region, where buckets are without a word, and may be made again by who owns them.
pub(super) const OLDEST: &str = "us-east-1";

/// The regions that there are: another one is answered otherwise than a name that is none.
const REGIONS: [&str; 35] = [
    OLDEST,
    "af-south-1",
    "ap-east-1",
    "ap-east-2",
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-northeast-3",
    "ap-south-1",
    "ap-south-2",
    "ap-southeast-1",
    "ap-southeast-2",
    "ap-southeast-3",
    "ap-southeast-4",
    "ap-southeast-5",
    "ca-central-1",
    "ca-west-1",
    "cn-north-1",
    "cn-northwest-1",
    "eu-central-1",
    "eu-central-2",
    "eu-north-1",
    "eu-south-1",
    "eu-south-2",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "il-central-1",
    "me-central-1",
    "me-south-1",
    "sa-east-1",
    "us-east-2",
    "us-gov-east-1",
    "us-gov-west-1",
    "us-west-1",
    "us-west-2",
];

/// Checks the region that a new bucket names, where the service is in `own`.
///
/// # Errors
/// [`Error::IllegalLocationConstraint`] for another region than that of the service, where that is not the oldest one;
/// [`Error::InvalidLocationConstraint`] for any other name but that of the service.
pub(super) fn check(named: &str, own: &str) -> Result<(), Error> {
    match own {
        OLDEST => {}
        own if own == named => return Ok(()),
        _ if REGIONS.contains(&named) => {
            return Err(Error::IllegalLocationConstraint { region: named.to_owned() });
        }
        _ => {}
    }
    Err(Error::InvalidLocationConstraint { region: named.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_asked_for_in_the_region_of_the_service_unless_that_is_the_oldest() {
        let invalid =
            |name: &str| Err(Error::InvalidLocationConstraint { region: name.to_owned() });
        let illegal =
            |name: &str| Err(Error::IllegalLocationConstraint { region: name.to_owned() });
        for own in ["eu-west-1", "home"] {
            assert_eq!(check(own, own), Ok(()));
            for name in ["us-west-2", OLDEST] {
                assert_eq!(check(name, own), illegal(name), "{own}");
            }
            for name in ["eu-west-9", "EU-WEST-2", "mars"] {
                assert_eq!(check(name, own), invalid(name), "{own}");
            }
        }
        for name in [OLDEST, "us-west-2", "mars"] {
            assert_eq!(check(name, OLDEST), invalid(name));
        }
    }
}
