//! A network of a cluster's own: a namespace for each member, and a bridge between them, so that members can be cut off as machines are.

use std::io::{Error, Result};
use std::net::Ipv4Addr;
use std::process::Command;

use crate::id::{Ids, SystemIds};

/// Attempts to find a part of the address space that nobody uses here.
const ATTEMPTS_MAX: usize = 8;

/// Namespaces of the network with a bridge, which reaches all of them. They end with this.
#[derive(Debug)]
pub(super) struct Network {
    /// The first part of the names of everything that it is made of: an interface has 15 signs at most.
    name: String,
    /// The second and the third number of its addresses.
    numbers: [u8; 2],
    members: usize,
}

impl Network {
    /// A network for so many members.
    ///
    /// # Errors
    /// A sentence that says that root alone may make one, or what the system said.
    pub(super) fn make(members: usize) -> Result<Self> {
        let mut last = Error::other("there is no free part of the address space");
        for _ in 0..ATTEMPTS_MAX {
            let drawn = SystemIds.next().to_be_bytes();
            let name = format!("tp{}", hex::encode(drawn.get(..4).unwrap_or_default()));
            let [.., second, third] = drawn;
            // One that is half made is taken apart when it is dropped.
            let network = Self { name, numbers: [second | 0x80, third], members };
            match network.build() {
                Ok(()) => return Ok(network),
                Err(error) => last = error,
            }
        }
        let why = "members of a cluster that can be cut off have network namespaces, which root alone may make (Debian: iproute2)";
        Err(Error::other(format!("{why}: {last}")))
    }

    fn build(&self) -> Result<()> {
        let bridge = self.bridge();
        ip(&format!("link add {bridge} type bridge"))?;
        ip(&format!("addr add {}/24 dev {bridge}", self.host(1)))?;
        ip(&format!("link set {bridge} up"))?;
        (0..self.members).try_for_each(|member| self.attach(member))
    }

    fn attach(&self, member: usize) -> Result<()> {
        let (namespace, port, bridge) = (self.namespace(member), self.port(member), self.bridge());
        ip(&format!("netns add {namespace}"))?;
        ip(&format!("link add {port} type veth peer name eth0 netns {namespace}"))?;
        ip(&format!("link set {port} master {bridge} up"))?;
        ip(&format!("-n {namespace} addr add {}/24 dev eth0", self.address(member)))?;
        ip(&format!("-n {namespace} link set eth0 up"))?;
        ip(&format!("-n {namespace} link set lo up"))
    }

    /// The address of a member.
    pub(super) fn address(&self, member: usize) -> Ipv4Addr {
        self.host(u8::try_from(member + 2).unwrap_or(u8::MAX))
    }

    /// Takes a member off the network, for the others and for clients: nothing that is sent to it or by it arrives, and nobody is told.
    pub(super) fn cut_off(&self, member: usize) -> Result<()> {
        ip(&format!("link set {} down", self.port(member)))
    }

    /// Cuts a member off from the others, while clients still reach it.
    pub(super) fn cut_off_from_others(&self, member: usize) -> Result<()> {
        self.each_other(member, "add")
    }

    /// Lets a member that was cut off reach everybody again.
    pub(super) fn join(&self, member: usize) -> Result<()> {
        ip(&format!("link set {} up", self.port(member)))?;
        let routes = ip_says(&format!("-n {} route", self.namespace(member)))?;
        if routes.contains("blackhole") { self.each_other(member, "del") } else { Ok(()) }
    }

    fn each_other(&self, member: usize, change: &str) -> Result<()> {
        (0..self.members).filter(|other| *other != member).try_for_each(|other| {
            let (namespace, address) = (self.namespace(member), self.address(other));
            ip(&format!("-n {namespace} route {change} blackhole {address}/32"))
        })
    }

    /// A command that runs a program in the namespace of a member, in its own process.
    pub(super) fn command(&self, member: usize, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(member), program]);
        command
    }

    fn host(&self, number: u8) -> Ipv4Addr {
        let [second, third] = self.numbers;
        Ipv4Addr::new(10, second, third, number)
    }

    fn bridge(&self) -> String {
        format!("{}b", self.name)
    }

    fn namespace(&self, member: usize) -> String {
        format!("{}n{member}", self.name)
    }

    fn port(&self, member: usize) -> String {
        format!("{}m{member}", self.name)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for member in 0..self.members {
            // Its end of the pair of interfaces takes the other one along.
            let _ = ip(&format!("netns del {}", self.namespace(member)));
        }
        let _ = ip(&format!("link del {}", self.bridge()));
    }
}

/// Runs `ip` with these arguments.
fn ip(arguments: &str) -> Result<()> {
    ip_says(arguments).map(drop)
}

/// The same; gives what it says.
fn ip_says(arguments: &str) -> Result<String> {
    let done = Command::new("ip").args(arguments.split(' ')).output()?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Err(Error::other(format!("ip {arguments}: {said}")))
}
