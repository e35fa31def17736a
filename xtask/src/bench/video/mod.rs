//! video-api: lists and searches against a bare hyper server that answers the same bytes, the same on a hundred times
//! as many videos, comments and subscriptions, a store generated at once, and Prism on the same document.

mod captions;
mod cascade;
mod comments;
mod subscriptions;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hyper::body::Bytes;
use indicatif::ProgressBar;
use serde_json::Value;
use tempfile::tempdir_in;

use crate::bench::bare::with_same;
use crate::bench::host::memory_mib;
use crate::bench::load::{Connection, rate};
use crate::bench::prism;
use crate::bench::report::{self, Row};
use crate::run::progress::{self, spinner};
use crate::run::service::{Options, Server, Service};
use crate::run::workspace::{cargo, root, target};

/// Videos of the small store, and how many times as many the large one has.
const VIDEOS: u64 = 10_000;
const TIMES: u64 = 100;
/// Videos of a channel, in both stores.
const CHANNEL_VIDEOS: u64 = 1_000;
const MEMORY_MIB_MAX: f64 = 2_048.0;
/// The page that is to cost what the first one does, and the videos of a page.
const PAGE: usize = 1_000;
const PAGE_VIDEOS: usize = 5;
/// The least rate of a list on the large store, as a share of its rate on the small one.
const FLAT: f64 = 1.0 / 1.5;

/// The tree of the stores that are compared: a large one has more rows than the default tree keeps in 2 GiB (docs/running.md).
const TREE: [&str; 2] = ["--tree", "redb"];

/// Requests a second of each kind.
struct Rates {
    /// `videos.list` of one id.
    video: f64,
    /// `playlistItems.list` of 50.
    items: f64,
    /// The same, never asked for before.
    new_items: f64,
    first_page: f64,
    later_page: f64,
    search: f64,
    /// A search for a word that most videos have.
    common: f64,
}

/// The size of a store.
#[derive(Debug, Clone, Copy)]
struct Size {
    videos: u64,
    channels: u64,
    /// Threads about one video.
    threads: u64,
    /// Subscriptions of one channel.
    subscriptions: u64,
}

impl Size {
    const fn of_videos(videos: u64) -> Self {
        Self { videos, channels: videos / CHANNEL_VIDEOS, threads: comments::FEW, subscriptions: 0 }
    }
}

/// A generated store.
struct Filled {
    data: PathBuf,
    /// The video that most comments are about, if it has any.
    busiest: String,
}

/// One group of rows.
type Step = fn(&Machine<'_>) -> Result<Vec<Row>>;

/// The groups, by name. Each makes the large store that it measures, and removes it.
const STEPS: [(&str, Step); 7] = [
    ("bare", |machine| beside_bare(machine.service, machine.small()?)),
    ("videos", many_videos),
    ("threads", many_threads),
    ("subscriptions", |machine| {
        machine.at("generates subscriptions");
        subscriptions::measure(machine.service, machine.folder, machine.large)
    }),
    ("writers", |machine| {
        machine.at("writes comments");
        Ok(vec![comments::writers(machine.service, &machine.folder.join("writers"))?])
    }),
    ("captions", |machine| {
        machine.at("converts captions");
        Ok(vec![captions::measure(machine.service, &machine.folder.join("captions"))?])
    }),
    ("prism", |machine| {
        machine.at("asks Prism");
        Ok(vec![peer(machine.service, &machine.small()?.data, machine.small_rates()?)?])
    }),
];

/// The service that all groups measure, and the small store that several of them compare with.
struct Machine<'m> {
    service: &'static Service,
    folder: &'m Path,
    /// Videos, threads or subscriptions of a large store.
    large: u64,
    small: OnceCell<Filled>,
    small_rates: OnceCell<Rates>,
    bar: ProgressBar,
}

impl Machine<'_> {
    fn at(&self, what: &str) {
        progress::at(&self.bar, what);
    }

    /// The small store, made for the first that asks.
    fn small(&self) -> Result<&Filled> {
        if let Some(small) = self.small.get() {
            return Ok(small);
        }
        self.at(&format!("generates {VIDEOS} videos"));
        let size = Size::of_videos(VIDEOS);
        let small = filled(self.service, &self.folder.join("small"), size, &mut Vec::new())?;
        self.at("asks for them");
        Ok(self.small.get_or_init(|| small))
    }

    /// Its rates, measured for the first that asks.
    fn small_rates(&self) -> Result<&Rates> {
        if let Some(rates) = self.small_rates.get() {
            return Ok(rates);
        }
        let (rates, _) = rates_of(self.service, self.small()?)?;
        Ok(self.small_rates.get_or_init(|| rates))
    }
}

/// Measures everything, or the groups whose name contains `only`. `TRIPTYCH_BENCH_VIDEOS` is how many videos, comments and
/// subscriptions the large stores have, if not a million.
///
/// # Errors
/// If the service does not build, start or answer, or there is no such group.
pub(crate) fn measure(only: Option<&str>) -> Result<Vec<Row>> {
    let service = Service::find("video")?;
    let build = ["build", "--release", "--locked", "-p", service.name, "--features", "redb"];
    let built = cargo(&build).status()?;
    ensure!(built.success(), "the service does not build");
    let folder = tempdir_in(target())?;
    let large = match std::env::var("TRIPTYCH_BENCH_VIDEOS") {
        Ok(number) => number.parse()?,
        Err(_) => VIDEOS * TIMES,
    };
    let machine = Machine {
        service,
        folder: folder.path(),
        large,
        small: OnceCell::new(),
        small_rates: OnceCell::new(),
        bar: spinner("video"),
    };
    report::of_groups(&STEPS, only, |step| step(&machine))
}

/// Lists and searches of very many videos, against those of a few.
fn many_videos(machine: &Machine<'_>) -> Result<Vec<Row>> {
    let Machine { service, folder, large, .. } = *machine;
    let small = machine.small_rates()?;
    let mut rows = Vec::new();
    machine.at(&format!("generates {large} videos"));
    let store = filled(service, &folder.join("large"), Size::of_videos(large), &mut rows)?;
    machine.at("asks for those");
    let (rates, resident) = rates_of(service, &store)?;
    rows.extend(scaled(small, &rates, large));
    rows.push(Row {
        what: format!(
            "video-api: servers of {large} videos and their comments in 2 GiB, after all lists and searches"
        ),
        value: MEMORY_MIB_MAX / resident,
        unit: "servers",
        limit: Some(("one".to_owned(), 1.0)),
        expected: Some(1.0),
    });
    std::fs::remove_dir_all(&store.data)?;
    Ok(rows)
}

/// Lists and searches of very many threads of one video against those of a few, and the removal of all of them.
fn many_threads(machine: &Machine<'_>) -> Result<Vec<Row>> {
    let Machine { service, folder, large, .. } = *machine;
    let few = comments::measure(service, machine.small()?, comments::FEW_PAGE)?;
    machine.at(&format!("generates {large} threads of comments about one video"));
    let busy = Size { threads: large, ..Size::of_videos(VIDEOS) };
    let store = filled(service, &folder.join("busy"), busy, &mut Vec::new())?;
    machine.at("asks for those");
    let many = comments::measure(service, &store, comments::MANY_PAGE)?;
    let mut rows = comments::scaled(&few, &many, large);
    machine.at("removes all that hangs on a channel");
    rows.push(cascade::measure(service, &store, busy)?);
    std::fs::remove_dir_all(&store.data)?;
    Ok(rows)
}

fn scaled(small: &Rates, large: &Rates, videos: u64) -> Vec<Row> {
    let row = |what: &str, value: f64, limit: &str, of: f64| Row {
        what: format!("video-api: {what}, {videos} videos"),
        value,
        unit: "requests/s",
        limit: Some((limit.to_owned(), of)),
        expected: Some(FLAT),
    };
    let few = "10,000 videos";
    vec![
        row("videos.list of one id", large.video, few, small.video),
        row("playlistItems.list of 50", large.items, few, small.items),
        row("playlistItems.list of 50 for the first time", large.new_items, few, small.new_items),
        row("page 1,000 of a chart", large.later_page, few, small.later_page),
        row("page 1,000 of a chart", large.later_page, "page 1", large.first_page),
        row("search with 20 matches", large.search, few, small.search),
        Row {
            what: format!("video-api: search for a word that most of {videos} videos have"),
            value: large.common,
            unit: "requests/s",
            limit: None,
            expected: None,
        },
    ]
}

/// A store of so many videos, made by the service's own sub-command.
fn filled(
    service: &'static Service,
    data: &Path,
    size: Size,
    rows: &mut Vec<Row>,
) -> Result<Filled> {
    let videos = size.videos;
    let begun = Instant::now();
    let mut child = Command::new(service.binary(true))
        .arg("generate")
        .arg("--data")
        .arg(data)
        .args(["--videos", &videos.to_string()])
        .args(["--channels", &size.channels.to_string()])
        .args(["--busy-threads", &size.threads.to_string()])
        .args(["--busy-subscriptions", &size.subscriptions.to_string()])
        .args(TREE)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut most: f64 = 0.0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        most = most.max(memory_mib(child.id(), "VmHWM:").unwrap_or_default());
        std::thread::sleep(Duration::from_millis(50));
    };
    let mut said = String::new();
    if let Some(mut errors) = child.stderr.take() {
        errors.read_to_string(&mut said)?;
    }
    ensure!(status.success(), "{videos} videos were not generated: {said}");
    let busiest = said.trim().strip_suffix(" is the busiest video");
    let busiest = busiest.and_then(|said| said.rsplit(' ').next()).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a count of videos has no 53 bits")]
    let made = videos as f64 / begun.elapsed().as_secs_f64();
    rows.push(Row {
        what: format!("video-api generate: {videos} videos, with all indexes"),
        value: made,
        unit: "videos/s",
        limit: None,
        expected: None,
    });
    rows.push(Row {
        what: format!("video-api generate: runs of {videos} videos in 2 GiB"),
        value: MEMORY_MIB_MAX / most,
        unit: "runs",
        limit: Some(("one".to_owned(), 1.0)),
        expected: Some(1.0),
    });
    Ok(Filled { data: data.to_owned(), busiest: busiest.to_owned() })
}

/// The ids that are asked for, as a client finds them.
struct Targets {
    videos: Vec<String>,
    items: Vec<String>,
    new_items: Vec<String>,
    first_page: String,
    later_page: String,
    searches: Vec<String>,
    common: String,
}

/// Requests of which none is sent twice while a rate is measured.
const NEW_REQUESTS: usize = 200_000;

const BASE: &str = "/youtube/v3";
const KEY: &str = "key=demo-key&alt=json";

impl Targets {
    fn find(address: SocketAddr) -> Result<Self> {
        let mut connection = Connection::to(address)?;
        let base = BASE;
        let chart = format!("{base}/videos?{KEY}&chart=mostPopular&part=");
        let search =
            |word: &str| format!("{base}/search?{KEY}&part=snippet&maxResults=25&q={word}");
        let mut videos = Vec::new();
        let mut searches = Vec::new();
        let mut words: BTreeMap<String, usize> = BTreeMap::new();
        let mut page = String::new();
        for _ in 0..4 {
            let found = connection.json(&format!("{chart}snippet&maxResults=50{page}"))?;
            for item in items_of(&found) {
                let id = text_at(item, "/id");
                let parts = "part=snippet,contentDetails,statistics,status";
                videos.push(format!("{base}/videos?{KEY}&{parts}&id={id}"));
                // A title ends in the name of its series and a number.
                let title = text_at(item, "/snippet/title");
                let letters = |word: &&str| word.chars().all(char::is_alphabetic);
                for word in title.split_whitespace().filter(letters) {
                    *words.entry(word.to_lowercase()).or_default() += 1;
                }
                let series = title.split('|').next_back().unwrap_or_default();
                let name = series.split_whitespace().next().unwrap_or_default();
                searches.push(search(name));
            }
            page = next_page(&found)?;
        }
        let lists = format!("{base}/search?{KEY}&part=id&type=playlist&maxResults=50");
        let found = connection.json(&lists)?;
        let items = items_of(&found).map(|item| {
            let id = text_at(item, "/id/playlistId");
            let parts = "part=snippet,contentDetails,status&maxResults=50";
            format!("{base}/playlistItems?{KEY}&{parts}&playlistId={id}")
        });
        let items: Vec<String> = items.collect();
        let common = words.iter().max_by_key(|(word, times)| (**times, word.len()));
        let (common, _) = common.context("titles have words")?;
        let first_page = format!("{chart}snippet&maxResults={PAGE_VIDEOS}");
        let later_page = page_of(&mut connection, &first_page, PAGE)?;
        Ok(Self {
            videos,
            new_items: never_asked(&items),
            items,
            first_page,
            later_page,
            searches,
            common: search(common.as_str()),
        })
    }
}

fn next_page(found: &Value) -> Result<String> {
    let token = found.get("nextPageToken").and_then(Value::as_str);
    let token = token.context("there is a next page")?;
    Ok(format!("&pageToken={token}"))
}

fn items_of(found: &Value) -> impl Iterator<Item = &Value> {
    let items = found.get("items").and_then(Value::as_array);
    items.into_iter().flatten()
}

fn text_at<'v>(value: &'v Value, pointer: &str) -> &'v str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

/// Lists of a store on the default tree, beside a bare server that answers the same.
fn beside_bare(service: &'static Service, store: &Filled) -> Result<Vec<Row>> {
    let server = start(service, &store.data, &[])?;
    let address = address_of(&server)?;
    let targets = Targets::find(address)?;
    let mut rows = vec![
        beside(address, "videos.list of one id, four parts", &targets.videos, 0.6)?,
        beside(address, "playlistItems.list of 50, three parts", &targets.items, 0.3)?,
    ];
    rows.extend(comments::beside_bare(address, &store.busiest)?);
    server.stop()?;
    Ok(rows)
}

/// Rates of a store, and resident memory at the end.
fn rates_of(service: &'static Service, store: &Filled) -> Result<(Rates, f64)> {
    let server = start(service, &store.data, &TREE)?;
    let address = address_of(&server)?;
    let targets = Targets::find(address)?;
    let one = |target: &String| rate(address, std::slice::from_ref(target));
    let rates = Rates {
        video: rate(address, &targets.videos)?,
        items: rate(address, &targets.items)?,
        new_items: rate(address, &targets.new_items)?,
        first_page: one(&targets.first_page)?,
        later_page: one(&targets.later_page)?,
        search: rate(address, &targets.searches)?,
        common: one(&targets.common)?,
    };
    // Its threads are looked at too, before its memory is.
    comments::look_through(address, &store.busiest)?;
    let resident = memory_mib(server.pid(), "VmHWM:")?;
    server.stop()?;
    Ok((rates, resident))
}

/// The rate of `targets` beside that of a bare server that answers as the first of them is answered.
fn beside(address: SocketAddr, what: &str, targets: &[String], expected: f64) -> Result<Row> {
    let (mut own, mut bare) = (0.0, 0.0);
    let mut body = Vec::new();
    let target = targets.first().context("there is a target")?;
    let head = Connection::to(address)?.get_with_head(target, &mut body)?;
    let body = Bytes::from(body);
    // Turn about, so that both meet the same machine.
    for _ in 0..2 {
        let asked = |address| rate(address, targets);
        bare += with_same(head.clone(), body.clone(), asked)? / 2.0;
        own += rate(address, targets)? / 2.0;
    }
    Ok(Row {
        what: format!("video-api: {what}"),
        value: own,
        unit: "requests/s",
        limit: Some(("bare hyper, same answer".to_owned(), bare)),
        expected: Some(expected),
    })
}

/// The same target under names that no answer was kept under: the parameter is for the client's own books, and the answer is the same.
fn never_asked(targets: &[String]) -> Vec<String> {
    let targets = targets.iter().cycle().take(NEW_REQUESTS).enumerate();
    targets.map(|(number, target)| format!("{target}&quotaUser={number}")).collect()
}

/// The target of a later page of a list, walked to as a client does; the last one if the list ends before.
fn page_of(connection: &mut Connection, first: &str, page: usize) -> Result<String> {
    let mut target = first.to_owned();
    for _ in 1..page {
        let found = connection.json(&target)?;
        let Ok(token) = next_page(&found) else {
            break;
        };
        target = format!("{first}{token}");
    }
    Ok(target)
}

fn start(service: &'static Service, data: &Path, flags: &[&str]) -> Result<Server> {
    start_with(service, data, root().join("packaging/demo/video-api.json"), flags)
}

fn start_with(
    service: &'static Service,
    data: &Path,
    seed: PathBuf,
    flags: &[&str],
) -> Result<Server> {
    let log = data.with_extension("requests.log").display().to_string();
    Server::start(
        service,
        &Options {
            binary: service.binary(true),
            data: data.to_owned(),
            seed,
            port: Some(0),
            flags: ["--log", &log].iter().chain(flags).map(|flag| (*flag).to_owned()).collect(),
        },
    )
}

fn address_of(server: &Server) -> Result<SocketAddr> {
    let address = server.url.trim_start_matches("http://").parse();
    address.context("the service names its address")
}

/// A peer that answers from the same document, with examples instead of data.
fn peer(service: &'static Service, data: &Path, rates: &Rates) -> Result<Row> {
    let server = start(service, data, &TREE)?;
    let document = Connection::to(address_of(&server)?)?.json("/$discovery/rest?version=v3")?;
    server.stop()?;
    let target = "/youtube/v3/videos?part=snippet&id=x".to_owned();
    let peer = prism::with(&document, |address| rate(address, &[target]))?;
    Ok(Row {
        what: "video-api: videos.list of one id".to_owned(),
        value: rates.video,
        unit: "requests/s",
        limit: Some(("Prism, a mock of the same document".to_owned(), peer)),
        expected: Some(10.0),
    })
}
