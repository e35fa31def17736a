//! Ids as the real service shapes them (facts: 11, 24 and 34 characters), and the special playlists that a channel's id implies.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use triptych_core::id::Ids;

use super::thumbnail;

fn random<const N: usize>(ids: &mut dyn Ids) -> String {
    let mut bytes = [0; N];
    ids.fill(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A video: 11 characters, 64 bits.
#[must_use]
pub fn video(ids: &mut dyn Ids) -> String {
    random::<8>(ids)
}

/// A channel: `UC` and 22 characters, 128 bits.
#[must_use]
pub fn channel(ids: &mut dyn Ids) -> String {
    format!("UC{}", random::<16>(ids))
}

/// A playlist: `PL` and 32 characters, 192 bits.
#[must_use]
pub fn playlist(ids: &mut dyn Ids) -> String {
    format!("PL{}", random::<24>(ids))
}

/// A caption track: `AUieDa` and 40 characters, as the real service begins them.
#[must_use]
pub fn caption(ids: &mut dyn Ids) -> String {
    format!("AUieDa{}", random::<30>(ids))
}

/// A thread, by its first comment: `Ug` and 24 characters, 144 bits.
#[must_use]
pub fn thread(ids: &mut dyn Ids) -> String {
    format!("Ug{}", random::<18>(ids))
}

/// A reply's own part of its id: 22 characters, 128 bits.
#[must_use]
pub fn reply(ids: &mut dyn Ids) -> String {
    random::<16>(ids)
}

/// A subscription: 43 characters.
#[must_use]
pub fn subscription(ids: &mut dyn Ids) -> String {
    random::<32>(ids)
}

/// A banner or another picture: 22 characters.
#[must_use]
pub fn picture(ids: &mut dyn Ids) -> String {
    random::<16>(ids)
}

/// Returns whether text may be an id in a seed file: letters, digits, `-`, `_` and `.`, at most 64 of them.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Returns whether text may be the id of a video in a seed file: one name in the addresses of pictures is that of none.
#[must_use]
pub fn is_video(text: &str) -> bool {
    is_plain(text) && text != thumbnail::NONE
}

/// Returns whether text may be the id of a channel in a seed file: its special playlists and their items are named by it.
#[must_use]
pub fn is_channel(text: &str) -> bool {
    is_plain(text) && text.starts_with("UC") && !text.contains('.')
}

/// Returns whether text may be the id of a playlist in a seed file: it is none of a special one, and the ids of items begin with it.
#[must_use]
pub fn is_made_playlist(text: &str) -> bool {
    is_plain(text)
        && !text.contains('.')
        && !SystemPlaylist::ALL.iter().any(|special| text.starts_with(special.prefix()))
}

/// A playlist that every channel has (Spec §2, fact 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemPlaylist {
    /// The channel's uploads.
    Uploads,
    /// Videos that it likes.
    Likes,
    /// Videos that it watched.
    History,
    /// Videos that it wants to watch.
    Later,
    /// Its favourite videos.
    Favorites,
}

impl SystemPlaylist {
    /// Every one of them.
    pub const ALL: [Self; 5] =
        [Self::Uploads, Self::Likes, Self::History, Self::Later, Self::Favorites];

    /// Returns whether everybody may read it; the others are their owner's alone.
    #[must_use]
    pub const fn is_public(self) -> bool {
        matches!(self, Self::Uploads | Self::Favorites)
    }

    /// Returns whether its items are in an order of their own, as those of a playlist that somebody made; else time orders them.
    #[must_use]
    pub const fn is_ordered(self) -> bool {
        matches!(self, Self::Later | Self::Favorites)
    }

    /// The start of its ids.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Uploads => "UU",
            Self::Likes => "LL",
            Self::History => "HL",
            Self::Later => "WL",
            Self::Favorites => "FL",
        }
    }

    /// Its title.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Uploads => "Uploads",
            Self::Likes => "Liked videos",
            Self::History => "Watch history",
            Self::Later => "Watch later",
            Self::Favorites => "Favorites",
        }
    }

    /// The id of this playlist of a channel.
    #[must_use]
    pub fn of(self, channel: &str) -> String {
        format!("{}{}", self.prefix(), channel.strip_prefix("UC").unwrap_or(channel))
    }
}

/// The playlist that an id names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaylistName {
    /// A playlist that somebody made.
    Made(String),
    /// A special playlist of a channel.
    Special(SystemPlaylist, String),
}

/// A key that opens the addresses of one picture: 80 random bits.
pub fn picture_key(ids: &mut dyn Ids) -> String {
    let mut key = [0; 10];
    ids.fill(&mut key);
    hex::encode(key)
}

/// The playlist that `id` names; `LL`, `HL`, `WL` and `FL` alone are those of the caller's channel.
#[must_use]
pub fn playlist_name(id: &str, caller: Option<&str>) -> PlaylistName {
    for special in SystemPlaylist::ALL {
        if let Some(rest) = id.strip_prefix(special.prefix()) {
            match (rest, caller) {
                ("", Some(channel)) => return PlaylistName::Special(special, channel.to_owned()),
                ("", None) => break,
                (rest, _) => return PlaylistName::Special(special, format!("UC{rest}")),
            }
        }
    }
    PlaylistName::Made(id.to_owned())
}

/// The id of an item: the playlist's and a number, as the real service nests them in base64.
#[must_use]
pub fn item(playlist: &str, number: &str) -> String {
    URL_SAFE_NO_PAD.encode([playlist, ".", number].concat())
}

/// The number of an item in an order, as its id has it.
#[must_use]
pub fn item_number(number: u64) -> String {
    format!("{number:016X}")
}

/// The playlist and the number of an item's id; `None` if it is none of ours.
#[must_use]
pub fn parse_item(id: &str) -> Option<(String, String)> {
    let bytes = URL_SAFE_NO_PAD.decode(id).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (playlist, number) = text.split_once('.')?;
    Some((playlist.to_owned(), number.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::id::SeededIds;

    #[test]
    fn ids_have_the_lengths_of_the_real_service() {
        let mut ids = SeededIds::from_number(1);
        assert_eq!(video(&mut ids).len(), 11);
        assert_eq!(channel(&mut ids).len(), 24);
        assert_eq!(playlist(&mut ids).len(), 34);
        assert_eq!(thread(&mut ids).len(), 26);
        assert_eq!(reply(&mut ids).len(), 22);
    }

    #[test]
    fn special_playlists_name_their_channel() {
        for special in SystemPlaylist::ALL {
            let id = special.of("UCabc");
            assert_eq!(playlist_name(&id, None), PlaylistName::Special(special, "UCabc".into()));
            assert_eq!(
                playlist_name(special.prefix(), Some("UCme")),
                PlaylistName::Special(special, "UCme".into())
            );
        }
        assert_eq!(playlist_name("PLx", None), PlaylistName::Made("PLx".into()));
    }

    #[test]
    fn item_ids_read_back() {
        assert_eq!(parse_item(&item("PLx", "7f")), Some(("PLx".into(), "7f".into())));
        assert_eq!(parse_item("!"), None);
    }
}
