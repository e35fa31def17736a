//! A wire to a server that delays what comes back, is cut at random bytes, loses answers, or holds what is sent until it is told to go on.

use std::io::{Read, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::id::{Ids, SeededIds};

/// The most bytes that pass at once.
const PIECE: usize = 16 * 1024;
/// One answer of so many is lost, where answers are lost.
const ONE_LOST_OF: u64 = 20;

/// The state of a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// All passes at once.
    Clear,
    /// Each answer arrives so much later.
    Slow(Duration),
    /// Each connection is cut after a random number of bytes in either direction, fewer than this.
    Cut(u64),
    /// Some connections end when an answer comes, which nobody hears.
    LosesAnswers,
    /// Answers wait.
    HoldsAnswers,
    /// Requests wait.
    HoldsRequests,
}

/// Wires to some servers, each with an address of its own on loopback. Connections end when this is dropped.
#[derive(Debug)]
pub struct Wire {
    addresses: Vec<SocketAddr>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    weather: Mutex<Weather>,
    changed: Condvar,
    chance: Mutex<SeededIds>,
    /// Connections that were cut, for bytes or for an answer.
    cut: AtomicUsize,
    held: AtomicUsize,
    ended: AtomicBool,
}

impl Wire {
    /// Wires to these servers; `seed` draws where they are cut.
    ///
    /// # Errors
    /// If no port can be taken.
    pub fn start(servers: &[SocketAddr], seed: u64) -> Result<Self> {
        let shared = Arc::new(Shared {
            weather: Mutex::new(Weather::Clear),
            changed: Condvar::new(),
            chance: Mutex::new(SeededIds::from_number(seed)),
            cut: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        let mut addresses = Vec::new();
        for &server in servers {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            addresses.push(listener.local_addr()?);
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || {
                for client in listener.incoming().map_while(Result::ok) {
                    if shared.ended.load(Ordering::Relaxed) {
                        break;
                    }
                    // What fails, fails at the client, whose connection ends.
                    let _ = carry(&client, server, &shared);
                }
            });
        }
        Ok(Self { addresses, shared })
    }

    /// The addresses for clients, in the order of the servers.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Changes the weather, of what is under way too.
    pub fn turn(&self, weather: Weather) {
        *self.shared.weather.lock() = weather;
        self.shared.changed.notify_all();
    }

    /// The number of connections that were cut so far.
    #[must_use]
    pub fn cut(&self) -> usize {
        self.shared.cut.load(Ordering::Relaxed)
    }

    /// The number of pieces that wait now.
    #[must_use]
    pub fn held(&self) -> usize {
        self.shared.held.load(Ordering::Relaxed)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        self.turn(Weather::Clear);
        // Each listener waits for a connection, and this is one.
        for address in &self.addresses {
            let _ = TcpStream::connect(address);
        }
    }
}

/// A connection of a client, and the one to the server that it is carried on.
struct Pair {
    client: TcpStream,
    server: TcpStream,
    shared: Arc<Shared>,
}

impl Pair {
    fn end(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }

    fn cut(&self) {
        self.shared.cut.fetch_add(1, Ordering::Relaxed);
        self.end();
    }

    /// Carries the way there.
    fn requests(&self) -> Result<()> {
        let (mut left, mut piece) = (None, [0; PIECE]);
        loop {
            let read = (&self.client).read(&mut piece)?;
            self.shared.wait_while(Weather::HoldsRequests);
            self.shared.decide(&mut left);
            if !pass(&self.server, piece.get(..read).unwrap_or_default(), &mut left)? {
                self.cut();
                return Ok(());
            }
            if read == 0 {
                return self.server.shutdown(Shutdown::Write);
            }
        }
    }

    /// Reads the way back, with the time at which each piece is to arrive.
    fn answers(&self, to: &Sender<(Instant, Vec<u8>)>) -> Result<()> {
        let mut piece = [0; PIECE];
        loop {
            let read = (&self.server).read(&mut piece)?;
            let due = self.shared.arrival();
            let piece = piece.get(..read).unwrap_or_default().to_vec();
            if self.shared.loses_an_answer() {
                self.cut();
                return Ok(());
            }
            if to.send((due, piece)).is_err() || read == 0 {
                return Ok(());
            }
        }
    }

    /// Lets what came back arrive.
    #[expect(clippy::disallowed_methods, reason = "a wire is slow in real time")]
    fn arrivals(&self, from: &Receiver<(Instant, Vec<u8>)>) -> Result<()> {
        let mut left = None;
        while let Ok((due, piece)) = from.recv() {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            self.shared.wait_while(Weather::HoldsAnswers);
            self.shared.decide(&mut left);
            if !pass(&self.client, &piece, &mut left)? {
                self.cut();
                return Ok(());
            }
            if piece.is_empty() {
                return self.client.shutdown(Shutdown::Write);
            }
        }
        Ok(())
    }
}

impl Shared {
    /// Decides how many bytes more a connection carries, where that is not decided and the weather has connections cut.
    fn decide(&self, left: &mut Option<u64>) {
        if left.is_none()
            && let Weather::Cut(within) = *self.weather.lock()
        {
            *left = Some(self.chance.lock().next() % within.max(1));
        }
    }

    fn loses_an_answer(&self) -> bool {
        let loses = *self.weather.lock() == Weather::LosesAnswers;
        loses && self.chance.lock().next().is_multiple_of(ONE_LOST_OF)
    }

    #[expect(clippy::disallowed_methods, reason = "a wire is slow in real time")]
    fn arrival(&self) -> Instant {
        let now = Instant::now();
        match *self.weather.lock() {
            Weather::Slow(delay) => now + delay,
            _ => now,
        }
    }

    fn wait_while(&self, held: Weather) {
        let mut weather = self.weather.lock();
        if *weather != held {
            return;
        }
        self.held.fetch_add(1, Ordering::Relaxed);
        self.changed.wait_while(&mut weather, |weather| *weather == held);
        self.held.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Writes as many bytes as may pass, and tells whether all of them did.
fn pass(mut to: &TcpStream, bytes: &[u8], left: &mut Option<u64>) -> Result<bool> {
    let may = left
        .map_or(bytes.len(), |left| usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len()));
    to.write_all(bytes.get(..may).unwrap_or_default())?;
    *left = left.map(|left| left - may as u64);
    Ok(may == bytes.len())
}

/// Carries a connection until it ends, on threads of its own.
fn carry(client: &TcpStream, server: SocketAddr, shared: &Arc<Shared>) -> Result<()> {
    let server = TcpStream::connect(server)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let pair = Arc::new(Pair { client: client.try_clone()?, server, shared: Arc::clone(shared) });
    let (send, arrive) = channel();
    let [there, back, last] = [0, 1, 2].map(|_| Arc::clone(&pair));
    // An end of one direction with an error is that of the connection.
    std::thread::spawn(move || there.requests().unwrap_or_else(|_| there.end()));
    std::thread::spawn(move || back.answers(&send).unwrap_or_else(|_| back.end()));
    std::thread::spawn(move || last.arrivals(&arrive).unwrap_or_else(|_| last.end()));
    Ok(())
}
