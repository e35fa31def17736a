//! Moving tabs. Within a window `tabs.onUpdated` tells first what the new place changes, with the tab standing there already,
//! and `tabs.onMoved` comes after it. Between windows `tabs.onDetached` comes before `tabs.onAttached`.

mod across_windows;
mod by_one;
mod within_window;
