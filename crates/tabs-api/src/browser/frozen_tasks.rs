//! Tasks of frozen pages: what comes for a page while it is frozen is done once it runs again, in the order in which it came. Where the page goes first,
//! nobody heard of it.

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

/// The tasks of all frozen pages, oldest first.
#[derive(Debug, Default)]
pub(super) struct FrozenTasks(Vec<(TabId, Task)>);

impl FrozenTasks {
    fn take(&mut self, tab: TabId) -> Vec<Task> {
        self.0.extract_if(.., |(of, _)| *of == tab).map(|(_, task)| task).collect()
    }
}

impl Browser {
    /// Does a task of a tab's page, now or once that runs again.
    pub(super) fn do_in_page(&mut self, tab: TabId, task: Task) {
        if self.is_frozen(tab) {
            self.frozen_tasks.0.push((tab, task));
        } else {
            self.do_task(task);
        }
    }

    /// The answer of a script that runs in a frame of a tab's page, now or once that runs again.
    pub(crate) fn answer_in_page(&mut self, tab: TabId, frame: u32, answer: Answer) -> Answer {
        if !self.is_frozen(tab) {
            return answer;
        }
        let request = self.next_request();
        self.frozen_tasks.0.push((tab, Task::Answer { request, answer, frame }));
        Answer::Later(request)
    }

    /// Does what waited for a page that runs again.
    pub(super) fn do_frozen_tasks(&mut self, tab: TabId) {
        self.frozen_tasks.take(tab).into_iter().for_each(|task| self.do_task(task));
    }

    /// Ends what waited for a page that goes.
    pub(super) fn end_frozen_tasks(&mut self, tab: TabId) {
        for task in self.frozen_tasks.take(tab) {
            match task {
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

    fn is_frozen(&self, tab: TabId) -> bool {
        self.strips.tab(tab).is_some_and(|tab| tab.frozen)
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
