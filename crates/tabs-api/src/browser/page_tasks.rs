//! Tasks of pages: what comes for a page while it is frozen or shows an alert is done once it runs again, in the order in which it came. Where the page
//! goes first, nobody heard of it. What is put into a tab whose first page is on its way is done once that comes.

use std::time::Duration;

use crate::browser::Browser;
use crate::browser::answer::Answer;
use crate::browser::pause::Pause;
use crate::browser::script_event::ScriptEvent;
use crate::browser::scripting::Injection;
use crate::browser::timers::Timer;
use crate::engine::{EngineCommand, Reply};
use crate::error::Error;
use crate::id::{HostId, RequestId, ScriptId, TabId};

/// The time after which a page that has begun to arrive takes what waited for it: its title shows by then.
const READ_AFTER: Duration = Duration::from_millis(4);

/// A task of a page.
#[derive(Debug)]
pub(super) enum Task {
    /// A content script that a client runs is told something.
    Script { host: HostId, script: ScriptId, event: ScriptEvent },
    /// The engine's own content scripts are.
    Engine(EngineCommand),
    /// Something is put into frames, which is the answer to a call.
    Injection { request: RequestId, injection: Injection },
}

/// The tasks of all pages that do nothing now, oldest first, each with the reason for which it waits.
#[derive(Debug, Default)]
pub(super) struct PageTasks(Vec<(TabId, Pause, Task)>);

impl PageTasks {
    fn take(&mut self, tab: TabId, waits_for: impl Fn(Pause) -> bool) -> Vec<(Pause, Task)> {
        let taken = self.0.extract_if(.., |(of, pause, _)| *of == tab && waits_for(*pause));
        taken.map(|(_, pause, task)| (pause, task)).collect()
    }

    /// Takes what waits for the first page of a tab.
    pub(super) fn take_awaiting_page(&mut self, tab: TabId) -> Vec<Task> {
        let taken = self.take(tab, |pause| pause == Pause::Coming);
        taken.into_iter().map(|(_, task)| task).collect()
    }

    /// Notes what the page of a tab does later. A view of a source does nothing, and does not say so.
    fn put_off(&mut self, tab: TabId, pause: Pause, task: Task) {
        if pause != Pause::Source {
            self.0.push((tab, pause, task));
        }
    }
}

impl Browser {
    /// Does a task of a tab's page, now or once that runs again.
    pub(super) fn do_in_page(&mut self, tab: TabId, task: Task) {
        match self.pause(tab, &[Pause::Alert, Pause::Frozen]) {
            Some(pause) => self.page_tasks.put_off(tab, pause, task),
            None => self.do_task(task),
        }
    }

    /// Puts something into frames of a tab's page, now or, where that is paused, once it runs.
    pub(super) fn inject_in_page(&mut self, injection: Injection) -> Answer {
        match self.pause(injection.tab, injection.pauses()) {
            Some(pause) => {
                let (tab, request) = (injection.tab, self.next_request());
                self.page_tasks.put_off(tab, pause, Task::Injection { request, injection });
                Answer::Later(request)
            }
            None => self.put_in(&injection),
        }
    }

    /// Does what waited for a page that runs again.
    pub(super) fn do_waiting_tasks(&mut self, tab: TabId) {
        let taken =
            self.page_tasks.take(tab, |pause| matches!(pause, Pause::Alert | Pause::Frozen));
        taken.into_iter().for_each(|(_, task)| self.do_task(task));
    }

    /// Gives the first page of a tab what waited for it: it takes that once it is read.
    pub(super) fn give_awaited(&mut self, tab: TabId, tasks: Vec<Task>) {
        if !tasks.is_empty() {
            self.set_timer(READ_AFTER, Timer::Awaited(tab));
        }
        for task in tasks {
            self.page_tasks.put_off(tab, Pause::Coming, task);
        }
    }

    /// Does what waited for the first page of a tab, which is read.
    pub(super) fn do_awaiting_tasks(&mut self, tab: TabId) {
        self.page_tasks.take_awaiting_page(tab).into_iter().for_each(|task| self.do_task(task));
    }

    /// Ends what waited for a page that goes.
    pub(super) fn end_waiting_tasks(&mut self, tab: TabId) {
        for (pause, task) in self.page_tasks.take(tab, |_| true) {
            match task {
                // A frozen page takes up a port as it goes; behind an alert it never comes to it.
                Task::Engine(EngineCommand::Connect { port, .. }) if pause == Pause::Alert => {
                    self.on_unheard_by_engine(&port);
                }
                Task::Engine(EngineCommand::Message { request, .. }) => {
                    self.on_engine_reply(request, Reply::NoReceiver);
                }
                Task::Injection { request, injection } => {
                    self.answer(request, Err(Error::FrameRemoved(injection.first_frame())));
                }
                // Whoever waits for these has a receiver less, as for any script that goes.
                Task::Script { .. } | Task::Engine(_) => {}
            }
        }
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
            Task::Injection { request, injection } => {
                let tab = injection.tab;
                if let Some(pause) = self.pause(tab, injection.pauses()) {
                    let task = Task::Injection { request, injection };
                    return self.page_tasks.put_off(tab, pause, task);
                }
                let answer = self.check_frames(&injection).map(|()| self.put_in(&injection));
                self.answer(request, answer);
            }
        }
    }
}
