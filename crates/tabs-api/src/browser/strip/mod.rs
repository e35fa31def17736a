//! The strip of a window: tabs open, move, close, become active, and who is told what of it in which order.

mod close_tab;
mod leaving;
mod move_tab;
mod open_tab;
mod open_window;
mod opener;
mod pin_tab;
mod removal;
mod select_tab;
mod strips;
mod successor;

pub(in crate::browser) use self::leaving::Leavings;
pub(crate) use self::open_tab::NewTab;
pub(crate) use self::open_window::WindowPlacement;
pub(crate) use self::strips::Strips;
