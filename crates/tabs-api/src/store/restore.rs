//! A browser made again of the rows that were kept of it.

use triptych_core::kv::Key;
use triptych_core::time::Timestamp;

use super::closed::ClosedRow;
use super::long_row::Pieces;
use super::restored_tab::tab_of;
use super::{GroupRow, Meta, TabRow, Table, WindowRow, group_of};
use crate::browser::window::{Bounds, Window, WindowKind};
use crate::browser::window_state::WindowState;
use crate::browser::{Browser, Compat, RestoredState};
use crate::id::{GroupId, TabId, WindowId};

/// A row of a browser that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the row {0:02x?} of a browser cannot be read")]
pub struct DamagedRow(pub Vec<u8>);

impl Browser {
    /// The browser that these rows describe, in the order of their keys; `None` if they describe no window. Tabs that were on their way set out again.
    ///
    /// # Errors
    /// The first row that cannot be read.
    pub fn restore(
        now: Timestamp,
        compat: Compat,
        rows: &[(Vec<u8>, Vec<u8>)],
    ) -> Result<Option<Self>, DamagedRow> {
        if rows.is_empty() {
            return Ok(None);
        }
        let mut read = ReadRows::default();
        for (key, value) in rows {
            read.row(key, value).ok_or_else(|| DamagedRow(key.clone()))?;
        }
        let pieces = std::mem::take(&mut read.pieces);
        let (long, counts) = pieces.join().ok_or_else(|| DamagedRow(vec![Table::Piece as u8]))?;
        for (key, value) in long {
            read.row(&key, &value).ok_or(DamagedRow(key))?;
        }
        let ReadRows { mut state, meta, .. } = read;
        let meta = meta.ok_or_else(|| DamagedRow(vec![Table::Meta as u8]))?;
        state.piece_counts = counts;
        state.counters = (meta.next_id, meta.next_number);
        state.focus = meta.focus_order.into_iter().map(WindowId).collect();
        Ok(Self::of_restored(now, compat, state))
    }
}

/// The rows that were read so far.
#[derive(Default)]
struct ReadRows {
    state: RestoredState,
    meta: Option<Meta>,
    pieces: Pieces,
}

impl ReadRows {
    fn row(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        let (table, mut rest) = key.split_first()?;
        let state = &mut self.state;
        match *table {
            table if table == Table::Meta as u8 => {
                self.meta = Some(serde_json::from_slice(value).ok()?);
            }
            table if table == Table::Window as u8 => {
                read_window(state, u64::read(&mut rest)?, value)?;
            }
            table if table == Table::Strip as u8 => {
                read_strip(state, u64::read(&mut rest)?, value)?;
            }
            table if table == Table::Tab as u8 => read_tab(state, u64::read(&mut rest)?, value)?,
            table if table == Table::Group as u8 => {
                read_group(state, u64::read(&mut rest)?, value)?;
            }
            table if table == Table::Zoom as u8 => {
                let factor = serde_json::from_slice(value).ok()?;
                state.zoom_levels.insert(String::read(&mut rest)?, factor);
            }
            table if table == Table::MutedSite as u8 => {
                state.muted_sites.insert(String::read(&mut rest)?);
            }
            table if table == Table::Closed as u8 => {
                let row: ClosedRow = serde_json::from_slice(value).ok()?;
                state.closed.insert(u64::read(&mut rest)?, row.entry());
            }
            table if table == Table::Piece as u8 => self.pieces.read(rest, value)?,
            _ => return None,
        }
        Some(())
    }
}

fn read_window(state: &mut RestoredState, id: u64, value: &[u8]) -> Option<()> {
    let row: WindowRow = serde_json::from_slice(value).ok()?;
    let id = WindowId(i64::try_from(id).ok()?);
    let kind = WindowKind::named(&row.kind).unwrap_or(WindowKind::Normal);
    let window = state.windows.entry(id).or_insert_with(|| Window::new(id, kind));
    window.kind = kind;
    window.active = row.active.map(TabId);
    window.highlighted = row.highlighted.into_iter().map(TabId).collect();
    window.state = WindowState::of_words(&row.state);
    window.bounds = Bounds { left: row.left, top: row.top, width: row.width, height: row.height };
    window.incognito = row.incognito;
    window.takes_groups = row.takes_groups || kind == WindowKind::Normal;
    Some(())
}

fn read_strip(state: &mut RestoredState, id: u64, value: &[u8]) -> Option<()> {
    let id = WindowId(i64::try_from(id).ok()?);
    let ids: Vec<i64> = serde_json::from_slice(value).ok()?;
    let window = state.windows.entry(id).or_insert_with(|| Window::new(id, WindowKind::Normal));
    window.tabs.extend(ids.into_iter().map(TabId));
    state.kept_strips.entry(id).or_default().rows += 1;
    Some(())
}

fn read_group(state: &mut RestoredState, id: u64, value: &[u8]) -> Option<()> {
    let row: GroupRow = serde_json::from_slice(value).ok()?;
    let id = GroupId(i64::try_from(id).ok()?);
    state.groups.insert(id, group_of(id, row));
    Some(())
}

fn read_tab(state: &mut RestoredState, id: u64, value: &[u8]) -> Option<()> {
    let row: TabRow = serde_json::from_slice(value).ok()?;
    let id = TabId(i64::try_from(id).ok()?);
    let (tab, pending) = tab_of(id, row);
    state.tabs.insert(id, tab);
    state.pending.extend(pending.map(|pending| (id, pending)));
    Some(())
}
