//! Sound: a tab counts as audible once its page has sounded for a moment, and until it has been silent for a while (Spec tabs-api §2).

use std::time::Duration;

use crate::browser::Browser;
use crate::browser::event::Change;
use crate::browser::tab::Tab;
use crate::browser::timers::Timer;
use crate::id::TabId;

/// The time that a sound must last to be noticed, and for which it still counts after its end.
const HEARD_AFTER: Duration = Duration::from_millis(200);
const HEARD_FOR: Duration = Duration::from_millis(2_500);

impl Browser {
    /// The page of a tab begins to sound, or falls silent; whether the tab is audible follows later.
    pub(super) fn set_sounding(&mut self, id: TabId, sounds: bool) {
        let Some(tab) = self.strips.tab_mut(id).filter(|tab| tab.sounds != sounds) else {
            return;
        };
        tab.sounds = sounds;
        tab.sound += 1;
        let sound = tab.sound;
        let lag = if sounds { HEARD_AFTER } else { HEARD_FOR };
        self.set_timer(lag, Timer::Sound { tab: id, sound });
    }

    /// Tells whether a tab is audible, unless its page has changed its mind since.
    pub(super) fn tell_sound(&mut self, id: TabId, sound: u64) {
        let is_news = |tab: &&mut Tab| tab.sound == sound && tab.audible != tab.sounds;
        let Some(tab) = self.strips.tab_mut(id).filter(is_news) else { return };
        tab.audible = tab.sounds;
        let audible = Some(tab.audible);
        self.emit_updated(id, Change { audible, ..Change::default() });
    }
}
