//! Countries: the codes of ISO 3166-1 alpha-2, of which the regions that have content of their own are a part.

/// Number of the codes.
pub const COUNT: usize = 249;

/// Every code, in the order of the alphabet.
const CODES: &str = "\
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ \
    CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET \
    FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU \
    ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY \
    MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM \
    PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ \
    TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";

/// The code of a country as the standard writes it; case does not count.
#[must_use]
pub fn country(code: &str) -> Option<&'static str> {
    CODES.split_ascii_whitespace().find(|known| known.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::language::REGIONS;

    #[test]
    fn every_code_of_the_standard_stands_once_in_order_and_each_region_is_a_country() {
        let codes: Vec<_> = CODES.split_ascii_whitespace().collect();
        assert_eq!(codes.len(), COUNT);
        assert!(codes.is_sorted_by(|before, after| before < after));
        assert!(codes.iter().all(|code| code.len() == 2));
        for (region, _) in REGIONS {
            assert_eq!(country(region), Some(*region));
        }
        assert_eq!(country("cn"), Some("CN"));
        for none in ["XX", "ZZ", "EU", "UK", "CHN", "", "C", "CN DE"] {
            assert_eq!(country(none), None, "{none}");
        }
    }
}
