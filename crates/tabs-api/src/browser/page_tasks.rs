//! Tasks of pages: what comes for a page while it is frozen or shows an alert is done once it runs again, in the order in which it came. Where the page
//! goes first, nobody heard of it.

use crate::browser::Browser;
use crate::browser::answer::Answer;
use crate::browser::script_event::ScriptEvent;
use crate::engine::{EngineCommand, Reply};
use crate::error::Error;
use crate::id::{HostId, RequestId, ScriptId, TabId};

/// A task of a page.
#[derive(Debug)]
pub(super) enum Task {
    /// A content script that a client runs is told something.
    Script { host: HostId, script: ScriptId, event: ScriptEvent },
    /// The engine's own content scripts are.
    Engine(EngineCommand),
    /// A script has run in this frame, and its result is the answer to a call.
    Answer { request: RequestId, answer: Answer, frame: u32 },
}

/// The reason for which a page does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Its tab is frozen.
    Frozen,
    /// It tells or asks the user something.
    Alert,
}

/// The tasks of all pages that do nothing now, oldest first, each with the reason for which it waits.
#[derive(Debug, Default)]
pub(super) struct PageTasks(Vec<(TabId, Pause, Task)>);

impl PageTasks {
    fn take(&mut self, tab: TabId) -> Vec<(Pause, Task)> {
        let taken = self.0.extract_if(.., |(of, ..)| *of == tab);
        taken.map(|(_, pause, task)| (pause, task)).collect()
    }
}

impl Browser {
    /// Does a task of a tab's page, now or once that runs again.
    pub(super) fn do_in_page(&mut self, tab: TabId, task: Task) {
        match self.pause(tab) {
            Some(pause) => self.page_tasks.0.push((tab, pause, task)),
            None => self.do_task(task),
        }
    }

    /// The answer of what is put into a frame of a tab's page, now or, where one of these pauses it, once that runs again.
    pub(crate) fn answer_in_page(
        &mut self,
        (tab, frame): (TabId, u32),
        pauses: &[Pause],
        answer: Answer,
    ) -> Answer {
        let Some(pause) = self.pause(tab).filter(|pause| pauses.contains(pause)) else {
            return answer;
        };
        let request = self.next_request();
        self.page_tasks.0.push((tab, pause, Task::Answer { request, answer, frame }));
        Answer::Later(request)
    }

    /// Does what waited for a page that runs again.
    pub(super) fn do_waiting_tasks(&mut self, tab: TabId) {
        self.page_tasks.take(tab).into_iter().for_each(|(_, task)| self.do_task(task));
    }

    /// Ends what waited for a page that goes.
    pub(super) fn end_waiting_tasks(&mut self, tab: TabId) {
        for (pause, task) in self.page_tasks.take(tab) {
            match task {
                // A frozen page takes up a port as it goes; behind an alert it never comes to it.
                Task::Engine(EngineCommand::Connect { port, .. }) if pause == Pause::Alert => {
                    self.on_unheard_by_engine(&port);
                }
                Task::Engine(EngineCommand::Message { request, .. }) => {
                    self.on_engine_reply(request, Reply::NoReceiver);
                }
                Task::Answer { request, frame, .. } => {
                    self.answer(request, Err(Error::FrameRemoved(frame)));
                }
                // Whoever waits for these has a receiver less, as for any script that goes.
                Task::Script { .. } | Task::Engine(_) => {}
            }
        }
    }

    fn pause(&self, tab: TabId) -> Option<Pause> {
        let tab = self.strips.tab(tab)?;
        let pauses = [(tab.has_alert, Pause::Alert), (tab.frozen, Pause::Frozen)];
        pauses.into_iter().find_map(|(is_so, pause)| is_so.then_some(pause))
    }

    fn do_task(&mut self, task: Task) {
        match task {
            Task::Script { host, script, event } => {
                if let ScriptEvent::Message { request, .. } = event {
                    self.note_received(request);
                }
                self.notify_script(host, script, event);
            }
            Task::Engine(command) => self.command(command),
            Task::Answer { request, answer, .. } => self.answer(request, Ok(answer)),
        }
    }
}
