//! The operations of `tabs`.

mod create_and_remove;
mod discard;
mod group;
mod message;
mod move_and_highlight;
mod navigate;
mod page;
mod query;
mod update;
mod zoom;

pub(super) use self::create_and_remove::{CREATE, DUPLICATE, REMOVE};
pub(super) use self::discard::DISCARD;
pub(super) use self::group::{GROUP, UNGROUP};
pub(super) use self::message::{CONNECT, SEND_MESSAGE};
pub(super) use self::move_and_highlight::{HIGHLIGHT, MOVE};
pub(super) use self::navigate::{GO_BACK, GO_FORWARD, RELOAD};
pub(super) use self::page::{CAPTURE_VISIBLE_TAB, DETECT_LANGUAGE};
pub(super) use self::query::{GET, GET_CURRENT, QUERY};
pub(super) use self::update::UPDATE;
pub(super) use self::zoom::{GET_ZOOM, GET_ZOOM_SETTINGS, SET_ZOOM, SET_ZOOM_SETTINGS};
