//! Explores the states that kills and power cuts leave of a whole process, of which `strace` recorded every call: `cargo xtask crash --processes`.
//!
//! ```text
//! process_states FOLDER STATES SEED [--without SYNC] [--leave NEXT] LOOK…
//! ```
//!
//! FOLDER has `recording.json` (`{"data": PATH, "begins": NAME, "lives": [{"log": NAME, "ready": SECONDS, "after": NAME}]}`), the logs, and the data
//! directory after each life, and before the first where a cut had left it.
//! Each state is written out there, and LOOK, a program, is asked on a line of its input: `{"data": PATH, "before": SECONDS, "isCut": BOOLEAN}`; it
//! answers with the list of what is missing, on a line of its output. With a sync left out, that this is found is what succeeds, after a look at
//! two states with every sync that finds nothing. A cut in the middle is left
//! in NEXT, the folder of another recording: its data directory as `begins`, and `left.json` (`{"recording": FOLDER, "before": SECONDS}`).

#![expect(clippy::print_stdout, reason = "a program at the terminal")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use serde_json::Value;
use triptych_core::explorer::{
    Content, End, Ended, Exploration, Micros, MissingSync, RecordedLife, Recording, Trace,
    explore_process,
};
use triptych_core::kv::{believe_copied_tree, end_copied_run};

/// States with every sync that are looked at before one is left out: of a kill and of a cut.
const CONTROL_STATES: u64 = 2;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match asked(&words).and_then(|asked| run(&asked)) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The words of the command line.
struct Asked<'w> {
    folder: &'w Path,
    exploration: Exploration,
    next: Option<&'w Path>,
    look: &'w [&'w str],
}

fn asked<'w>(words: &'w [&str]) -> Outcome<Asked<'w>> {
    let [folder, states, seed, rest @ ..] = words else {
        return Err(
            "usage: process_states FOLDER STATES SEED [--without SYNC] [--leave NEXT] LOOK…".into(),
        );
    };
    let (without, rest) = match rest {
        ["--without", sync, rest @ ..] => {
            (Some(MissingSync::named(sync).ok_or("there is no such sync")?), rest)
        }
        rest => (None, rest),
    };
    let (next, look) = match rest {
        ["--leave", next, look @ ..] => (Some(Path::new(*next)), look),
        look => (None, look),
    };
    let exploration = Exploration { seed: seed.parse()?, states: states.parse()?, without };
    Ok(Asked { folder: Path::new(*folder), exploration, next, look })
}

fn run(asked: &Asked<'_>) -> Outcome<String> {
    let Asked { folder, exploration, next, look } = asked;
    let (recording, mut looker) = (read(folder)?, Looker::start(folder, look)?);
    let mut look = |ended: &Ended| looker.look(ended);
    if exploration.without.is_some() {
        // What is found next has to come of the sync, and of nothing else here.
        let control = Exploration { states: CONTROL_STATES, without: None, ..*exploration };
        explore_process(&recording, &control, &mut look)
            .map_err(|found| format!("with every sync: {found}"))?;
    }
    let explored = explore_process(&recording, exploration, &mut look);
    match (exploration.without, explored) {
        (None, explored) => {
            let explored = explored?;
            if let Some(next) = next {
                let middle = explored.middle.as_ref().ok_or("no cut was looked at")?;
                leave(folder, next, middle)?;
            }
            Ok(explored.to_string())
        }
        (Some(sync), Err(found)) => Ok(format!("without the sync of {}: {found}", sync.name)),
        (Some(sync), Ok(explored)) => {
            Err(format!("not missed is the sync of {}: {explored}", sync.name).into())
        }
    }
}

/// Leaves what a cut left for another recording to begin on.
fn leave(folder: &Path, next: &Path, cut: &Ended) -> Outcome<()> {
    std::fs::create_dir(next)?;
    let begins = next.join("begins");
    write_out(&begins, cut.content.as_ref().ok_or("the cut left nothing")?)?;
    // Who starts on it does so in another run of the machine.
    end_copied_run(&begins.join("kv"))?;
    let left = serde_json::json!({ "recording": folder, "before": seconds(cut.at) });
    Ok(std::fs::write(next.join("left.json"), left.to_string())?)
}

/// A moment as writers tell it.
fn seconds(at: Micros) -> f64 {
    at as f64 / 1e6
}

/// The recording in a folder.
fn read(folder: &Path) -> Outcome<Recording> {
    let recorded: Value = serde_json::from_slice(&std::fs::read(folder.join("recording.json"))?)?;
    let data = told(&recorded, "data").ok_or("no data directory is told")?.into();
    let mut lives = Vec::new();
    let told_lives = recorded.get("lives").and_then(Value::as_array);
    for life in told_lives.ok_or("no lives are told")? {
        let part = |name: &str| told(life, name).map(|name| folder.join(name));
        let log = part("log").ok_or("a life has no log")?;
        let trace = Trace::read(BufReader::new(std::fs::File::open(&log)?))
            .map_err(|what| format!("{}: {what}", log.display()))?;
        let after = part("after").ok_or("nothing is told of what a life left")?;
        let ready = life.get("ready").and_then(Value::as_f64).ok_or("no life is told to serve")?;
        lives.push(RecordedLife { trace, ready: (ready * 1e6) as Micros, after: all_of(&after)? });
    }
    let begins = told(&recorded, "begins").map(|name| all_of(&folder.join(name))).transpose()?;
    Ok(Recording { data, begins, lives })
}

/// Everything in a directory.
fn all_of(directory: &Path) -> Outcome<Content> {
    let mut content = Content::new();
    read_content(directory, directory, &mut content)?;
    Ok(content)
}

/// The text under a name.
fn told<'a>(of: &'a Value, name: &str) -> Option<&'a str> {
    of.get(name).and_then(Value::as_str)
}

fn read_content(root: &Path, directory: &Path, content: &mut Content) -> Outcome<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let inner = path.strip_prefix(root)?.to_owned();
        if path.is_dir() {
            content.insert(inner, None);
            read_content(root, &path, content)?;
        } else {
            content.insert(inner, Some(std::fs::read(&path)?));
        }
    }
    Ok(())
}

/// The program that starts the process on a state, and looks.
struct Looker {
    folder: PathBuf,
    program: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Looker {
    fn start(folder: &Path, look: &[&str]) -> Outcome<Self> {
        let (program, arguments) = look.split_first().ok_or("no program is told that looks")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = command.spawn()?;
        let (asks, answers) = (program.stdin.take(), program.stdout.take());
        Ok(Self {
            folder: folder.join("state"),
            program,
            asks: asks.ok_or("no input")?,
            answers: BufReader::new(answers.ok_or("no output")?),
        })
    }

    fn look(&mut self, ended: &Ended) -> Result<(), String> {
        self.asked(ended).map_err(|error| error.to_string())
    }

    fn asked(&mut self, ended: &Ended) -> Outcome<()> {
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder)?;
        }
        std::fs::create_dir(&self.folder)?;
        let data = self.folder.join("data");
        if let Some(content) = &ended.content {
            write_out(&data, content)?;
        }
        let is_cut = ended.end == End::Cut;
        if !is_cut {
            // The files are those that they were, and are believed if they were before.
            believe_copied_tree(&data.join("kv"))?;
        }
        let asked =
            serde_json::json!({ "data": data, "before": seconds(ended.at), "isCut": is_cut });
        writeln!(self.asks, "{asked}")?;
        self.asks.flush()?;
        let mut answer = String::new();
        if self.answers.read_line(&mut answer)? == 0 {
            return Err(format!("who looks has ended: {}", self.program.wait()?).into());
        }
        let missing: Vec<String> = serde_json::from_str(&answer)?;
        if missing.is_empty() { Ok(()) } else { Err(missing.join("; ").into()) }
    }
}

fn write_out(directory: &Path, content: &Content) -> Outcome<()> {
    std::fs::create_dir(directory)?;
    for (path, content) in content {
        let path = directory.join(path);
        match content {
            None => std::fs::create_dir(path)?,
            Some(bytes) => {
                std::fs::write(&path, bytes)?;
                // Secrets are their owner's alone.
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
            }
        }
    }
    Ok(())
}
