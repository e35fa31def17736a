//! Hosts in the letters of their languages, where that misleads nobody.

use idna::uts46::{AsciiDenyList, Hyphens, Uts46};

/// A way of writing, as far as names of hosts are written in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Cyrillic,
    Han,
    Kana,
    Bopomofo,
    Hangul,
    /// Another one, named by the first of its characters.
    Other(u32),
}

/// The runs of characters of other ways of writing, which are not mixed with any.
const OTHERS: [(u32, u32); 20] = [
    (0x370, 0x3ff),
    (0x531, 0x58a),
    (0x5d0, 0x5f2),
    (0x620, 0x6ff),
    (0x780, 0x7b1),
    (0x900, 0x97f),
    (0x980, 0x9ff),
    (0xa00, 0xa7f),
    (0xa80, 0xaff),
    (0xb00, 0xb7f),
    (0xb80, 0xbff),
    (0xc00, 0xc7f),
    (0xc80, 0xcff),
    (0xd00, 0xd7f),
    (0xd80, 0xdff),
    (0xe00, 0xe7f),
    (0xe80, 0xeff),
    (0x1000, 0x109f),
    (0x10d0, 0x10ff),
    (0x1780, 0x17ff),
];

/// Cyrillic letters that look as Latin ones: a name of these alone could be taken for another.
const AS_LATIN: &str = "аысԁеԍһіюкјӏмнопрԗԛѕтԝхуъьҽвгѵѡ";

/// The host of an address as the browser shows it.
pub(super) fn shown_host(host: &str) -> String {
    let (shown, outcome) = Uts46::new().to_user_interface(
        host.as_bytes(),
        AsciiDenyList::EMPTY,
        Hyphens::Allow,
        |label, end, _| misleads_nobody(label, end),
    );
    outcome.map_or_else(|_| host.to_owned(), |()| shown.into_owned())
}

/// True for a name in one way of writing, or in those that a language mixes.
fn misleads_nobody(label: &[char], end: &[char]) -> bool {
    let mut scripts = Vec::new();
    for letter in label {
        match script(*letter) {
            _ if is_common(*letter) => {}
            Some(script) if scripts.contains(&script) => {}
            Some(script) => scripts.push(script),
            None => return false,
        }
    }
    let is_of = |mixed: &[Script]| scripts.iter().all(|script| mixed.contains(script));
    let is_mixed_well = is_of(&[Script::Latin, Script::Han, Script::Kana])
        || is_of(&[Script::Latin, Script::Han, Script::Bopomofo])
        || is_of(&[Script::Latin, Script::Han, Script::Hangul]);
    let looks_latin =
        end.iter().all(char::is_ascii) && label.iter().all(|letter| AS_LATIN.contains(*letter));
    // Beside another way of writing Latin letters are those of ASCII alone.
    let is_foreign = |letter: &char| !letter.is_ascii() && script(*letter) == Some(Script::Latin);
    !looks_latin
        && !mixes_digits(label)
        && lengthens_kana_alone(label)
        && (scripts.len() <= 1 || is_mixed_well && !label.iter().any(is_foreign))
}

/// True for characters that every way of writing has, or several.
fn is_common(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, '-' | LENGTHENER | '々')
}

/// True for a name with digits of more than one kind.
fn mixes_digits(label: &[char]) -> bool {
    let is_other = |letter: &char| script(*letter).is_some() && letter.is_numeric();
    label.iter().any(char::is_ascii_digit) && label.iter().any(is_other)
}

/// The mark that a sound is long, which reads as a dash where it stands behind anything but such a sound.
const LENGTHENER: char = 'ー';

fn lengthens_kana_alone(label: &[char]) -> bool {
    let is_sound = |letter: char| letter == LENGTHENER || script(letter) == Some(Script::Kana);
    label.first() != Some(&LENGTHENER)
        && label.windows(2).all(|pair| match pair {
            [before, LENGTHENER] => is_sound(*before),
            _ => true,
        })
}

fn script(letter: char) -> Option<Script> {
    Some(match u32::from(letter) {
        0x61..=0x7a | 0xdf..=0xf6 | 0xf8..=0x17f | 0x1e00..=0x1eff => Script::Latin,
        0x430..=0x45f | 0x48a..=0x52f => Script::Cyrillic,
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x2_0000..=0x3_13ff => Script::Han,
        0x3041..=0x3096 | 0x30a1..=0x30fa => Script::Kana,
        0x3105..=0x312f => Script::Bopomofo,
        0xac00..=0xd7a3 => Script::Hangul,
        code => {
            let (first, _) =
                OTHERS.iter().find(|(first, last)| (*first..=*last).contains(&code))?;
            Script::Other(*first)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_shown_in_its_letters_unless_they_could_mislead() {
        for (host, shown) in [
            ("a.test", "a.test"),
            ("a%20b", "a%20b"),
            ("xn--bcher-kva.test", "bücher.test"),
            ("xn--wgv71a119e.jp", "日本語.jp"),
            ("xn--80ak6aa92e.com", "xn--80ak6aa92e.com"),
            ("xn--e1afmkfd.xn--p1ai", "пример.рф"),
            ("xn--ls8h.la", "xn--ls8h.la"),
            ("xn--a", "xn--a"),
            ("xn--wekz60nb2a.test", "xn--wekz60nb2a.test"),
            ("xn--strae--eta2108rdoc.test", "xn--strae--eta2108rdoc.test"),
            ("xn--13-quf.test", "xn--13-quf.test"),
            ("xn--fa-hia.test", "faß.test"),
            ("xn--2-gtbyh.test", "дом2.test"),
        ] {
            assert_eq!(shown_host(host), shown, "{host}");
        }
    }
}
