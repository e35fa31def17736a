//! Other devices of the user, with the pages that are open there, for `sessions.getDevices` and `sessions.restore`.

use serde::Deserialize;
use serde_json::{Value, json};
use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::closed::{Restored, SessionTab, session_elsewhere};
use crate::browser::strip::{NewTab, WindowPlacement};
use crate::browser::window::WindowKind;
use crate::error::Error;
use crate::extension::permission::Access;
use crate::id::{TAB_ID_NONE, WindowId};
use crate::url::typed;

/// A page that is open on another device.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DevicePage {
    /// Its address.
    pub url: String,
    /// Its title.
    #[serde(default)]
    pub title: String,
}

/// Another device, with one window of pages.
#[derive(Debug)]
struct Device {
    name: String,
    pages: Vec<DevicePage>,
    /// The time at which it was heard of.
    at: Timestamp,
}

impl Device {
    /// The name of the session of its window, and of that of a page.
    fn session(&self, page: Option<usize>) -> String {
        format!("{}.{}", self.name, page.map_or(0, |page| page + 1))
    }

    /// Its window as the interface shows it.
    fn shown(&self, access: &Access<'_>) -> Value {
        let tab = |(index, page): (usize, &DevicePage)| {
            let session = self.session(Some(index));
            let (url, title) = (page.url.as_str(), page.title.as_str());
            let (pinned, is_active, last_accessed) = (false, index == 0, self.at);
            SessionTab { session, index, url, title, pinned, is_active, last_accessed }
                .shown(TAB_ID_NONE, access)
        };
        json!({ "lastModified": self.at.seconds(), "window": {
            "alwaysOnTop": false,
            "focused": false,
            "incognito": false,
            "sessionId": self.session(None),
            "state": "normal",
            "tabs": self.pages.iter().enumerate().map(tab).collect::<Vec<_>>(),
            "type": "normal",
        } })
    }
}

/// Other devices, the one that was heard of last at the end.
#[derive(Debug, Default)]
pub(super) struct Devices(Vec<Device>);

impl Devices {
    /// The pages of a session, the time at which its device was heard of, and whether it is a whole window.
    fn find(&self, session: &str) -> Option<(Vec<DevicePage>, Timestamp, bool)> {
        let named = session_elsewhere(session).map(|(device, number)| format!("{device}.{number}"));
        let is_session = |known: &str| known == session || named.as_deref() == Some(known);
        self.0.iter().find_map(|device| {
            if is_session(&device.session(None)) {
                return Some((device.pages.clone(), device.at, true));
            }
            let is_it = |at: &usize| is_session(&device.session(Some(*at)));
            let page = device.pages.get((0..device.pages.len()).find(is_it)?)?;
            Some((vec![page.clone()], device.at, false))
        })
    }
}

impl Browser {
    /// Another device tells which pages are open there; without any, it is gone.
    pub(super) fn sync_device(
        &mut self,
        name: String,
        pages: Vec<DevicePage>,
    ) -> Result<(), Error> {
        let at = self.now;
        let read =
            |page: DevicePage| typed(&page.url).map(|url| DevicePage { url, title: page.title });
        let pages = pages.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        self.devices.0.retain(|device| device.name != name);
        if !pages.is_empty() {
            self.devices.0.push(Device { name, pages, at });
        }
        Ok(())
    }

    /// Other devices, the one that was heard of last first, each with so many sessions at most, as somebody with this access sees them.
    pub(crate) fn devices(&self, count: usize, access: &Access<'_>) -> Vec<Value> {
        let latest = self.devices.0.iter().rev();
        let shown = latest.map(|device| {
            let sessions = std::iter::once(device).take(count);
            let sessions: Vec<_> = sessions.map(|device| device.shown(access)).collect();
            json!({ "deviceName": device.name, "sessions": sessions })
        });
        shown.collect()
    }

    /// Opens here what is open on another device: a page in a new tab of `window`, or all of them in a window of their own. `None` where no
    /// device has such a session.
    pub(crate) fn open_from_device(
        &mut self,
        session: &str,
        window: WindowId,
    ) -> Result<Option<(Restored, Timestamp)>, Error> {
        let Some((pages, at, is_window)) = self.devices.find(session) else {
            return match session_elsewhere(session) {
                None => Ok(None),
                // A browser that knows no other device is not told of any.
                Some(_) if self.devices.0.is_empty() => Err(Error::NoSync),
                Some((device, number)) => Err(Error::NoSession(format!("{device}.{number}"))),
            };
        };
        let urls: Vec<_> = pages.into_iter().map(|page| page.url).collect();
        let restored = if is_window {
            let window = self.open_window(WindowKind::Normal, false, WindowPlacement::default())?;
            self.fill_window(window, &urls)?;
            self.give_focus(window);
            Restored::Window(window)
        } else {
            let url = urls.first().map(String::as_str);
            let window = self.normal_window(window)?;
            let new =
                NewTab { window, url, index: None, active: true, pinned: false, opener: None };
            Restored::Tab(self.open_tab(&new)?)
        };
        Ok(Some((restored, at)))
    }
}
