//! The state of a window: the window manager minimizes and maximizes it, the browser has it fill the screen, and each remembers its own part.

/// The parts of a window's state. Without any of them it is `normal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowState {
    /// True if it is not to be seen.
    pub minimized: bool,
    /// True if it fills the screen, without a frame.
    pub fullscreen: bool,
    /// True if it is as large as it can be, or will be once it is to be seen and no longer fills the screen.
    pub maximized: bool,
}

impl WindowState {
    /// The state as the interface shows it: of its parts the first one.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.words().next().unwrap_or("normal")
    }

    /// The names of its parts, in the order in which they hide each other.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let parts = [
            (self.minimized, "minimized"),
            (self.fullscreen, "fullscreen"),
            (self.maximized, "maximized"),
        ];
        parts.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word)
    }

    /// The state of these parts; other words name none.
    #[must_use]
    pub fn of_words(words: &str) -> Self {
        let has = |part| words.split(' ').any(|word| word == part);
        Self {
            minimized: has("minimized"),
            fullscreen: has("fullscreen"),
            maximized: has("maximized"),
        }
    }

    /// The state after one was asked for. What is asked for beside `fullscreen` ends that, and `normal` only the part that is shown; a minimized window
    /// that is to fill the screen stays minimized (measured).
    #[must_use]
    pub fn changed_to(self, asked: &str) -> Self {
        let not_full = Self { fullscreen: false, ..self };
        match asked {
            "minimized" => Self { minimized: true, ..not_full },
            "maximized" => Self { maximized: true, ..Self::default() },
            "fullscreen" => Self { fullscreen: true, ..self },
            _ if self.fullscreen => not_full,
            _ if self.minimized => Self { minimized: false, ..self },
            _ => Self::default(),
        }
    }

    /// The state that shows while only the browser has done its part of a change.
    #[must_use]
    pub const fn at_once(self, after: Self) -> Self {
        Self { fullscreen: after.fullscreen, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states that show as others are asked for one after the other, at once and in the end.
    fn shown(asked: &[&str]) -> Vec<(&'static str, &'static str)> {
        let mut state = WindowState::default();
        let mut change = |asked: &&str| {
            let before = state;
            state = before.changed_to(asked);
            (before.at_once(state).word(), state.word())
        };
        asked.iter().map(&mut change).collect()
    }

    #[test]
    fn each_part_of_a_state_is_remembered_behind_those_that_hide_it() {
        let full = ("fullscreen", "fullscreen");
        assert_eq!(
            shown(&["fullscreen", "maximized", "normal"]),
            [full, ("normal", "maximized"), ("maximized", "normal")]
        );
        assert_eq!(
            shown(&["maximized", "fullscreen", "normal"]),
            [("normal", "maximized"), full, ("maximized", "maximized")]
        );
        assert_eq!(
            shown(&["maximized", "minimized", "normal"]),
            [("normal", "maximized"), ("maximized", "minimized"), ("minimized", "maximized")]
        );
        assert_eq!(
            shown(&["fullscreen", "minimized", "normal"]),
            [full, ("normal", "minimized"), ("minimized", "normal")]
        );
        let hidden = ("minimized", "minimized");
        assert_eq!(
            shown(&["minimized", "fullscreen", "normal", "normal"]),
            [("normal", "minimized"), hidden, hidden, ("minimized", "normal")]
        );
        assert_eq!(
            shown(&["minimized", "fullscreen", "maximized"]),
            [("normal", "minimized"), hidden, ("minimized", "maximized")]
        );
    }

    #[test]
    fn a_state_is_read_from_its_words() {
        for words in ["", "maximized", "fullscreen maximized", "minimized maximized"] {
            let state = WindowState::of_words(words);
            assert_eq!(state.words().collect::<Vec<_>>().join(" "), words);
        }
        assert_eq!(WindowState::of_words("normal"), WindowState::default());
    }
}
