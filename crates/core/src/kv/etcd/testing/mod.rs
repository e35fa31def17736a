//! An etcd cluster of a test's own: three members, on free ports of loopback or each in a network namespace, their data in a folder that goes
//! with them.

mod network;

use std::fs::File;
use std::io::{Error, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use self::network::Network;
use crate::free_ports::free_ports;
use crate::id::{Ids, SystemIds};

/// Members of a cluster: the fewest of which one may fall.
const MEMBERS: usize = 3;
/// The flag without which this engine refuses a server.
const OPERATIONS: &str = "--max-txn-ops=2048";
/// Time for a member, or a majority of them, to be ready.
const READY_MAX: Duration = Duration::from_secs(60);
/// Time for a member to answer a question about itself.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// The ports of a member that has an address of its own, for clients and for the others.
const PORTS: [u16; 2] = [2379, 2380];
/// The sign in a member's figures that it leads.
const LEADS: &str = "\netcd_server_is_leader 1\n";

/// A running cluster. It is stopped, and its data removed, when this is dropped.
#[derive(Debug)]
pub struct EtcdCluster {
    directory: PathBuf,
    members: Vec<Member>,
    settings: Vec<String>,
    /// Set if each member has a namespace of its own.
    network: Option<Network>,
}

#[derive(Debug)]
struct Member {
    client: SocketAddr,
    peer: SocketAddr,
    running: Option<Child>,
}

impl EtcdCluster {
    /// Makes a cluster that this engine takes, and starts it.
    ///
    /// # Errors
    /// If etcd is not installed, or no leader is elected.
    pub fn start() -> std::io::Result<Self> {
        Self::start_with(&[OPERATIONS])
    }

    /// The same with other flags of the servers.
    ///
    /// # Errors
    /// As [`EtcdCluster::start`].
    pub fn start_with(settings: &[&str]) -> std::io::Result<Self> {
        let ports = free_ports(2 * MEMBERS)?.into_iter();
        let ports: Vec<SocketAddr> = ports.map(|port| (Ipv4Addr::LOCALHOST, port).into()).collect();
        let (clients, peers) = ports.split_at(MEMBERS);
        let addresses = clients.iter().copied().zip(peers.iter().copied());
        Self::of(addresses, settings, None)
    }

    /// The same in network namespaces, as on three machines: members can be cut off.
    ///
    /// # Errors
    /// As [`EtcdCluster::start`], or if this is not root, who alone may make namespaces.
    pub fn start_in_namespaces() -> std::io::Result<Self> {
        let network = Network::make(MEMBERS)?;
        let [client, peer] = PORTS;
        let own = (0..MEMBERS).map(|number| network.address(number));
        let addresses: Vec<_> = own.map(|own| ((own, client).into(), (own, peer).into())).collect();
        Self::of(addresses.into_iter(), &[OPERATIONS], Some(network))
    }

    fn of(
        addresses: impl Iterator<Item = (SocketAddr, SocketAddr)>,
        settings: &[&str],
        network: Option<Network>,
    ) -> std::io::Result<Self> {
        let name = format!("triptych-etcd-{:016x}", SystemIds.next());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory)?;
        let members = addresses.map(|(client, peer)| Member { client, peer, running: None });
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let mut cluster = Self { directory, members: members.collect(), settings, network };
        cluster.revive_all()?;
        Ok(cluster)
    }

    /// The URL of the store on it.
    #[must_use]
    pub fn url(&self) -> String {
        let members = self.members.iter().map(|member| member.client.to_string());
        let members = members.collect::<Vec<_>>().join(",");
        // Elsewhere than on loopback TLS is what a URL means by itself.
        let plain = if self.network.is_some() { "?sslmode=disable" } else { "" };
        format!("etcd://{members}{plain}")
    }

    /// The addresses of the members for clients.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.members.iter().map(|member| member.client).collect()
    }

    /// Waits for a member that says that it leads, and gives its number.
    ///
    /// # Errors
    /// If there is none in time.
    pub fn wait_for_leader(&self) -> std::io::Result<usize> {
        self.wait_for("a leader", |cluster| cluster.leader().is_some())?;
        self.leader().map_or_else(|| self.wait_for_leader(), Ok)
    }

    /// The number of the member that leads now, as it says.
    #[must_use]
    pub fn leader(&self) -> Option<usize> {
        self.members.iter().position(Member::leads)
    }

    /// Kills a member, as a fall of its machine would.
    ///
    /// # Errors
    /// Those of the system.
    pub fn kill(&mut self, number: usize) -> std::io::Result<()> {
        let Some(mut child) = self.members.get_mut(number).and_then(|member| member.running.take())
        else {
            return Ok(());
        };
        child.kill()?;
        child.wait().map(drop)
    }

    /// Starts a member that was killed, and waits until it follows or leads.
    ///
    /// # Errors
    /// As [`EtcdCluster::start`].
    pub fn revive(&mut self, number: usize) -> std::io::Result<()> {
        self.spawn(number)?;
        self.wait_for("a member", |cluster| {
            let member = cluster.members.get(number);
            member.is_some_and(|member| {
                member.ask("/health").is_ok_and(|said| said.contains("\"true\""))
            })
        })
    }

    /// Starts every member that was killed, and waits until they have a leader.
    ///
    /// # Errors
    /// As [`EtcdCluster::start`].
    pub fn revive_all(&mut self) -> std::io::Result<()> {
        let is_down = |member: &Member| member.running.is_none();
        let down = self.members.iter().enumerate().filter(|(_, member)| is_down(member));
        let down: Vec<_> = down.map(|(number, _)| number).collect();
        down.into_iter().try_for_each(|number| self.spawn(number))?;
        self.wait_for("a leader", |cluster| cluster.leader().is_some())
    }

    /// Kills all members, as a fall of all machines would.
    ///
    /// # Errors
    /// Those of the system.
    pub fn kill_all(&mut self) -> std::io::Result<()> {
        (0..self.members.len()).try_for_each(|number| self.kill(number))
    }

    /// Takes a member off the network, for the others and for clients.
    ///
    /// # Errors
    /// If the members have no namespaces, or the system refuses.
    pub fn cut_off(&self, number: usize) -> std::io::Result<()> {
        self.network()?.cut_off(number)
    }

    /// Cuts a member off from the others, while clients still reach it.
    ///
    /// # Errors
    /// As [`EtcdCluster::cut_off`].
    pub fn cut_off_from_others(&self, number: usize) -> std::io::Result<()> {
        self.network()?.cut_off_from_others(number)
    }

    /// Lets a member that was cut off reach everybody again.
    ///
    /// # Errors
    /// As [`EtcdCluster::cut_off`].
    pub fn join(&self, number: usize) -> std::io::Result<()> {
        self.network()?.join(number)
    }

    /// Waits until a member other than this one says that it leads.
    ///
    /// # Errors
    /// If there is none in time.
    pub fn wait_for_another_leader(&self, than: usize) -> std::io::Result<()> {
        self.wait_for("another leader", |cluster| {
            let others = cluster.members.iter().enumerate().filter(|(number, _)| *number != than);
            others.map(|(_, member)| member).any(Member::leads)
        })
    }

    fn network(&self) -> std::io::Result<&Network> {
        self.network.as_ref().ok_or_else(|| Error::other("the members have no namespaces"))
    }

    /// Holds a member still, its connections open: for the others it is cut off.
    ///
    /// # Errors
    /// If there is no program `kill`.
    pub fn pause(&self, number: usize) -> std::io::Result<()> {
        self.signal(number, "-STOP")
    }

    /// Lets a member that was held still go on.
    ///
    /// # Errors
    /// As [`EtcdCluster::pause`].
    pub fn go_on(&self, number: usize) -> std::io::Result<()> {
        self.signal(number, "-CONT")
    }

    fn signal(&self, number: usize, signal: &str) -> std::io::Result<()> {
        let child = self.members.get(number).and_then(|member| member.running.as_ref());
        let child = child.ok_or_else(|| Error::other("this member does not run"))?;
        let told = Command::new("kill").args([signal, &child.id().to_string()]).status()?;
        if told.success() { Ok(()) } else { Err(Error::other("the signal was not sent")) }
    }

    /// Starts one member on its ports and its data.
    fn spawn(&mut self, number: usize) -> std::io::Result<()> {
        let cluster = self.members.iter().enumerate();
        let cluster = cluster.map(|(number, member)| format!("m{number}=http://{}", member.peer));
        let cluster = cluster.collect::<Vec<_>>().join(",");
        let Some(member) = self.members.get_mut(number) else {
            return Err(Error::other("there is no such member"));
        };
        let (client, peer) =
            (format!("http://{}", member.client), format!("http://{}", member.peer));
        let log = self.directory.join(format!("m{number}.log"));
        let log = File::options().create(true).append(true).open(log)?;
        let mut command = match &self.network {
            Some(network) => network.command(number, "etcd"),
            None => Command::new("etcd"),
        };
        command.args(["--name", &format!("m{number}"), "--initial-cluster", &cluster]);
        command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
        command.arg("--data-dir").arg(self.directory.join(format!("m{number}")));
        // Three members on one disk wait for each other's syncs: more time than its default of one second, so that a slow disk elects nobody.
        command.args(["--heartbeat-interval=200", "--election-timeout=2000"]);
        command.args(&self.settings).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let missing = |error| Error::other(format!("apt-get install etcd-server: {error}"));
        member.running = Some(command.spawn().map_err(missing)?);
        Ok(())
    }

    /// Waits until something holds.
    #[expect(clippy::disallowed_methods, reason = "real servers start in real time")]
    fn wait_for(&self, what: &str, holds: impl Fn(&Self) -> bool) -> std::io::Result<()> {
        let started = Instant::now();
        while !holds(self) {
            if started.elapsed() > READY_MAX {
                let said = std::fs::read_to_string(self.directory.join("m0.log"));
                let said = said.unwrap_or_default();
                return Err(Error::other(format!("not {what} in time: {said}")));
            }
            std::thread::yield_now();
        }
        Ok(())
    }
}

impl Member {
    /// Tells whether it runs and says that it leads.
    fn leads(&self) -> bool {
        self.running.is_some() && self.ask("/metrics").is_ok_and(|said| said.contains(LEADS))
    }

    /// The answer that it gives at a path of its port for clients.
    fn ask(&self, path: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&self.client, ANSWER_MAX)?;
        stream.set_read_timeout(Some(ANSWER_MAX))?;
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
        let mut said = String::new();
        stream.read_to_string(&mut said)?;
        Ok(said)
    }
}

impl Drop for EtcdCluster {
    fn drop(&mut self) {
        for number in 0..self.members.len() {
            let _ = self.kill(number);
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
