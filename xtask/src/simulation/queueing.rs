//! A closed network of queues, event by event: clients that go through their steps again and again, servers that they wait for, and a log that
//! is flushed for all who wait at once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A step of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step {
    /// Time that passes, whoever else is there: a network, a store of bodies. Seconds in the mean, from half of it to half more.
    Delay(f64),
    /// Work of so many seconds, in the mean, at a station.
    Serve(usize, f64),
    /// Bytes that a log has to flush.
    Flush(usize, f64),
}

/// The servers of a network.
#[derive(Debug, Default)]
pub(super) struct Servers {
    /// Servers of each station.
    pub stations: Vec<usize>,
    /// Logs: seconds of a flush, bytes a second.
    pub logs: Vec<(f64, f64)>,
}

/// Figures of a run, after its start.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Requests a second.
    pub rate: f64,
    /// Seconds of a request in the mean.
    pub answered_after: f64,
    /// The share of time for which each station's servers were busy, and then the share of its bytes a second that each log took: one that is
    /// always at work takes all who come with its next flush.
    pub busy: Vec<f64>,
}

/// The part of the requests after which what is seen counts: queues are as long as they get.
const WARM: usize = 2;

/// Seconds within which the clients begin.
const STARTS: f64 = 0.1;

/// Runs `clients` until so many requests have ended; `steps` draws the steps of the next request of a client, by its number.
pub(super) fn run(
    servers: &Servers,
    clients: usize,
    requests: usize,
    steps: impl FnMut(usize, &mut Chance) -> Vec<Step>,
) -> Seen {
    let mut network = Network::of(servers, clients, steps);
    network.run(requests / WARM);
    network.begin_to_see();
    network.run(requests);
    network.seen(requests)
}

struct Network<F> {
    now: f64,
    began: f64,
    events: BinaryHeap<Reverse<(Moment, usize, Event)>>,
    drawn: usize,
    stations: Vec<Station>,
    logs: Vec<Log>,
    clients: Vec<Client>,
    steps: F,
    chance: Chance,
    ended: usize,
    waited: f64,
}

/// A moment as an integer, so that moments have an order: nanoseconds.
type Moment = u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A client's step is over.
    Over(usize),
    /// A client's work at a station is done.
    Served(usize, usize),
    /// A log is flushed.
    Flushed(usize),
}

#[derive(Debug, Default)]
struct Client {
    left: VecDeque<Step>,
    since: f64,
}

#[derive(Debug)]
struct Station {
    servers: usize,
    at_work: usize,
    waiting: VecDeque<(usize, f64)>,
    busy: f64,
}

#[derive(Debug)]
struct Log {
    flush: f64,
    bytes_a_second: f64,
    flushed: Vec<usize>,
    waiting: Vec<(usize, f64)>,
    busy: f64,
}

impl<F: FnMut(usize, &mut Chance) -> Vec<Step>> Network<F> {
    fn of(servers: &Servers, clients: usize, steps: F) -> Self {
        let station =
            |&servers: &usize| Station { servers, at_work: 0, waiting: VecDeque::new(), busy: 0.0 };
        let log = |&(flush, bytes_a_second): &(f64, f64)| Log {
            flush,
            bytes_a_second,
            flushed: Vec::new(),
            waiting: Vec::new(),
            busy: 0.0,
        };
        let mut network = Self {
            now: 0.0,
            began: 0.0,
            events: BinaryHeap::new(),
            drawn: 0,
            stations: servers.stations.iter().map(station).collect(),
            logs: servers.logs.iter().map(log).collect(),
            clients: (0..clients).map(|_| Client::default()).collect(),
            steps,
            chance: Chance(1),
            ended: 0,
            waited: 0.0,
        };
        // Clients that begin together would go on together.
        for client in 0..clients {
            let start = network.chance.share() * STARTS;
            network.at(start, Event::Over(client));
        }
        network
    }

    fn at(&mut self, after: f64, event: Event) {
        self.drawn += 1;
        let moment = ((self.now + after) * 1e9) as Moment;
        self.events.push(Reverse((moment, self.drawn, event)));
    }

    fn begin_to_see(&mut self) {
        (self.began, self.ended, self.waited) = (self.now, 0, 0.0);
        self.stations.iter_mut().for_each(|station| station.busy = 0.0);
        self.logs.iter_mut().for_each(|log| log.busy = 0.0);
    }

    fn run(&mut self, requests: usize) {
        while self.ended < requests
            && let Some(Reverse((moment, _, event))) = self.events.pop()
        {
            self.now = moment as f64 / 1e9;
            match event {
                Event::Over(client) => self.go_on(client),
                Event::Served(client, station) => {
                    let next = self.stations.get_mut(station).and_then(|station| {
                        station.at_work -= 1;
                        station.waiting.pop_front()
                    });
                    if let Some((waiting, mean)) = next {
                        self.serve(waiting, station, mean);
                    }
                    self.go_on(client);
                }
                Event::Flushed(log) => {
                    let flushed =
                        self.logs.get_mut(log).map(|log| std::mem::take(&mut log.flushed));
                    self.flush(log);
                    flushed.into_iter().flatten().for_each(|client| self.go_on(client));
                }
            }
        }
    }

    /// Takes the next step of a client, or the first of its next request.
    fn go_on(&mut self, number: usize) {
        let Some(client) = self.clients.get_mut(number) else {
            return;
        };
        match client.left.pop_front() {
            Some(Step::Delay(mean)) => {
                let time = mean * (0.5 + self.chance.share());
                self.at(time, Event::Over(number));
            }
            Some(Step::Serve(station, mean)) => self.serve(number, station, mean),
            Some(Step::Flush(log, bytes)) => {
                let Some(found) = self.logs.get_mut(log) else { return };
                found.waiting.push((number, bytes));
                if found.flushed.is_empty() {
                    self.flush(log);
                }
            }
            None => {
                self.ended += 1;
                self.waited += self.now - client.since;
                client.since = self.now;
                client.left = (self.steps)(number, &mut self.chance).into();
                if !client.left.is_empty() {
                    self.at(0.0, Event::Over(number));
                }
            }
        }
    }

    fn serve(&mut self, client: usize, number: usize, mean: f64) {
        let Some(station) = self.stations.get_mut(number) else {
            return;
        };
        if station.at_work >= station.servers {
            station.waiting.push_back((client, mean));
            return;
        }
        station.at_work += 1;
        let time = self.chance.exponential(mean);
        station.busy += time;
        self.at(time, Event::Served(client, number));
    }

    /// Begins to flush for all who wait now.
    fn flush(&mut self, number: usize) {
        let Some(log) = self.logs.get_mut(number).filter(|log| !log.waiting.is_empty()) else {
            return;
        };
        let bytes: f64 = log.waiting.iter().map(|(_, bytes)| bytes).sum();
        log.flushed = log.waiting.drain(..).map(|(client, _)| client).collect();
        log.busy += bytes / log.bytes_a_second;
        let time = log.flush + bytes / log.bytes_a_second;
        self.at(time, Event::Flushed(number));
    }

    fn seen(&self, requests: usize) -> Seen {
        let took = (self.now - self.began).max(f64::MIN_POSITIVE);
        let stations = self.stations.iter().map(|station| station.busy / station.servers as f64);
        let logs = self.logs.iter().map(|log| log.busy);
        Seen {
            rate: requests as f64 / took,
            answered_after: self.waited / requests as f64,
            busy: stations.chain(logs).map(|busy| busy / took).collect(),
        }
    }
}

/// Chance that is the same each time (SplitMix64).
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 on and below 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of so many.
    pub(super) fn one_of(&mut self, many: usize) -> usize {
        ((self.share() * many as f64) as usize).min(many.saturating_sub(1))
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUESTS: usize = 40_000;

    fn one_station(clients: usize) -> Seen {
        let servers = Servers { stations: vec![4], logs: Vec::new() };
        run(&servers, clients, REQUESTS, |_, _| vec![Step::Delay(0.010), Step::Serve(0, 0.002)])
    }

    fn is_near(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 0.03
    }

    #[test]
    fn a_rate_times_the_time_of_a_request_is_the_number_of_clients() {
        for clients in [1, 8, 24, 100] {
            let seen = one_station(clients);
            assert!(is_near(seen.rate * seen.answered_after, clients as f64), "{seen:?}");
        }
    }

    #[test]
    fn few_clients_wait_for_nobody_and_many_keep_every_server_busy() {
        let few = one_station(1);
        assert!(is_near(few.rate, 1.0 / 0.012), "{few:?}");
        let many = one_station(100);
        assert!(is_near(many.rate, 4.0 / 0.002), "{many:?}");
        assert!(is_near(many.busy[0], 1.0), "{many:?}");
    }

    #[test]
    fn a_station_is_busy_for_what_it_served() {
        for clients in [2, 10, 40] {
            let seen = one_station(clients);
            assert!(is_near(seen.busy[0], seen.rate * 0.002 / 4.0), "{seen:?}");
        }
    }

    /// Exact mean value analysis of one server and a delay (Reiser and Lavenberg 1980).
    fn exact(clients: usize, delay: f64, service: f64) -> f64 {
        let (mut rate, mut waiting) = (0.0, 0.0);
        for population in 1..=clients {
            let at_server = service * (1.0 + waiting);
            rate = population as f64 / (delay + at_server);
            waiting = rate * at_server;
        }
        rate
    }

    #[test]
    fn rates_are_those_of_an_exact_analysis() {
        for clients in [1, 4, 8, 16] {
            let servers = Servers { stations: vec![1], logs: Vec::new() };
            let steps = |_, _: &mut Chance| vec![Step::Delay(0.010), Step::Serve(0, 0.002)];
            let seen = run(&servers, clients, REQUESTS, steps);
            assert!(is_near(seen.rate, exact(clients, 0.010, 0.002)), "{clients}: {seen:?}");
        }
    }

    #[test]
    fn a_log_is_flushed_once_for_all_who_wait() {
        let servers = Servers { stations: Vec::new(), logs: vec![(0.001, 1e9)] };
        let seen = run(&servers, 64, REQUESTS, |_, _| vec![Step::Flush(0, 0.0)]);
        // Who is flushed goes on while the others' flush begins: half of them wait at each.
        assert!(seen.rate > 20_000.0, "{seen:?}");
        let full = Servers { stations: Vec::new(), logs: vec![(0.001, 1e6)] };
        let seen = run(&full, 64, REQUESTS, |_, _| vec![Step::Flush(0, 1e3)]);
        assert!(seen.rate < 1_000.0, "a log is as fast as its disk: {seen:?}");
    }
}
