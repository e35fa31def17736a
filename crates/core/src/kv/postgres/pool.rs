//! The connections: some that commit, some that read, each made again when it is lost.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use tokio::time::sleep;

use super::connection::{Carrier, Lane, Role, Session};
use super::group_commit::{Committed, NamedBatch};
use super::group_read::{Asked, Rows};
use super::schema;
use super::statements::Statements;
use super::url::PostgresUrl;
use crate::id::SeededIds;
use crate::kv::StoreError;
use crate::kv::shared::{CHECK_EVERY, ConnectError, Group, Link};

/// Time that a statement waits for a connection since the store went away: a server that is restarted is back by then.
const PATIENCE: Duration = Duration::from_secs(3);
/// The shortest and the longest pause between two attempts to connect.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// Time for which commits wait for those that are on their way. On PostgreSQL transactions that stand beside each other cost more than those that
/// follow each other: they look at each other, and some are undone.
const LATE_COMMIT: Duration = Duration::from_millis(20);
/// Time for which reads by keys wait for those that are on their way.
const LATE_READ: Duration = Duration::from_millis(5);

/// The connections of one engine, and everything that they are made with.
pub(super) struct Pool {
    pub(super) url: PostgresUrl,
    pub(super) schema: String,
    pub(super) statements: Statements,
    pub(super) link: Arc<Link>,
    /// Batches that wait to be committed together; none where each goes by itself.
    pub(super) commits: Option<Group<NamedBatch, Committed>>,
    /// Keys that wait to be read together; none where each goes by itself.
    pub(super) reads: Option<Group<Asked, Rows>>,
    writers: Vec<Slot>,
    readers: Vec<Slot>,
    /// Held while a connection is made: one shows what there is to know of the server, and one takes the steps of the schema.
    connecting: tokio::sync::Mutex<()>,
}

/// The bit of a role among the kinds of connections.
const fn kind(role: Role) -> u8 {
    match role {
        Role::Writer => 1,
        Role::Reader | Role::Keeper => 2,
    }
}

/// The place of a connection.
#[derive(Default)]
struct Slot(RwLock<Option<Arc<Lane>>>);

impl Pool {
    /// The places of so many connections of each role, all empty.
    pub(super) fn new(
        url: PostgresUrl,
        schema: &str,
        each: usize,
        together: usize,
        ids: SeededIds,
    ) -> Self {
        let link =
            Arc::new(Link::new(&url, kind(Role::Writer) | kind(Role::Reader), PATIENCE, ids));
        let slots = || (0..each.max(1)).map(|_| Slot::default()).collect();
        Self {
            url,
            schema: schema.to_owned(),
            statements: Statements::of(schema),
            link,
            commits: (together > 1).then(|| Group::new(together, LATE_COMMIT)),
            reads: (together > 1).then(|| Group::new(together, LATE_READ)),
            writers: slots(),
            readers: slots(),
            connecting: tokio::sync::Mutex::default(),
        }
    }

    const fn slots(&self, role: Role) -> &Vec<Slot> {
        match role {
            Role::Writer => &self.writers,
            Role::Reader | Role::Keeper => &self.readers,
        }
    }

    /// Spawns a task for each place, which keeps a connection in it.
    pub(super) fn fill(self: &Arc<Self>) {
        // They are made one after another: in turns, so that the first two do for whatever is asked.
        for place in 0..self.writers.len().max(self.readers.len()) {
            for role in [Role::Writer, Role::Reader] {
                let pool = Arc::clone(self);
                tokio::spawn(async move { pool.keep(role, place).await });
            }
        }
    }

    /// Makes the connection of one place, and again each time that it is lost.
    async fn keep(&self, role: Role, place: usize) {
        let Some(slot) = self.slots(role).get(place) else {
            return;
        };
        let (mut pause, longest) = PAUSES;
        loop {
            match self.connect(role).await {
                Ok((lane, mut carrier)) => {
                    pause = PAUSES.0;
                    let lane = Arc::new(lane);
                    *slot.0.write() = Some(Arc::clone(&lane));
                    self.link.opened(kind(role));
                    let reason = tokio::select! {
                        ended = &mut carrier.0 => ended.unwrap_or_else(|error| error.to_string()),
                        () = lane.condemned() => "the server did not answer in time".to_owned(),
                        reason = self.moved_on(&lane) => reason,
                    };
                    *slot.0.write() = None;
                    drop(carrier);
                    self.link.lost(&reason);
                }
                Err(error) => {
                    self.link.not_reached(&error);
                    sleep(self.link.jittered(pause)).await;
                    pause = longest.min(pause * 2);
                }
            }
        }
    }

    /// Waits until a later release has moved the schema on, and gives the reason for which this one writes nothing more.
    async fn moved_on(&self, lane: &Lane) -> String {
        loop {
            sleep(CHECK_EVERY).await;
            // One that fails tells nothing: whoever uses the connection finds out.
            if let Ok(text) = lane.format().await
                && let Err(ConnectError::Refused(reason)) =
                    schema::format_named(&self.schema, &text)
            {
                return reason;
            }
        }
    }

    async fn connect(&self, role: Role) -> Result<(Lane, Carrier), ConnectError> {
        let _turn = self.connecting.lock().await;
        Lane::open(&self.url, &self.schema, &self.statements, role).await
    }

    /// Opens a session beside the places, for questions and for tidying.
    pub(super) async fn session(&self) -> Result<Session, ConnectError> {
        Session::open(&self.url, &self.schema, Role::Keeper).await
    }

    /// The connection of this role with the least to do.
    ///
    /// # Errors
    /// `Unavailable` once there was none for longer than is waited.
    pub(super) async fn lane(&self, role: Role) -> Result<Arc<Lane>, StoreError> {
        self.link.connection(|| self.idlest(role)).await
    }

    fn idlest(&self, role: Role) -> Option<Arc<Lane>> {
        let open = self.slots(role).iter().filter_map(|slot| slot.0.read().clone());
        let with_load = open.filter_map(|lane| Some((lane.load()?, lane)));
        with_load.min_by_key(|(load, _)| *load).map(|(_, lane)| lane)
    }
}
