//! Clients that ask for much and stop reading: what they hold in memory.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::sync::Arc;
use std::time::Duration;

use service::{Draft, NOW, World};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use triptych_core::blobs::Directory;
use triptych_core::disk::SystemDisk;
use triptych_core::id::SeededIds;
use triptych_core::kv::Memory;

/// The most bytes that are read ahead of a client that reads, and a little more for what encryption adds.
const PIECE: usize = 1024 * 1024 + 1024;
/// Bytes that a client reads before it stops.
const STRIDE: usize = 64 * 1024;
const CLIENTS: usize = 40;

/// A client that asked for an object and has read the head of the answer and `bytes` of its body.
async fn ask(world: &World, target: &str, bytes: usize) -> DuplexStream {
    let (mut client, server) = tokio::io::duplex(16 * 1024);
    let service = world.service.clone();
    tokio::spawn(async move {
        let io = hyper_util::rt::TokioIo::new(server);
        let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
    });
    client.write_all(&Draft::new("GET", target, b"").bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
    read(&mut client, bytes).await;
    client
}

async fn read(client: &mut DuplexStream, bytes: usize) -> Vec<u8> {
    let mut taken = vec![0; bytes];
    client.read_exact(&mut taken).await.unwrap();
    taken
}

#[tokio::test]
async fn clients_that_stop_reading_hold_a_piece_each_and_none_once_a_second_is_over() {
    let directory = tempfile::tempdir().unwrap();
    let ids = SeededIds::from_number(2);
    let blobs = Directory::open(directory.path(), Arc::new(SystemDisk), ids).unwrap();
    let world = World::on(Arc::new(Memory::new()), Arc::new(blobs), NOW).await;
    let body: Vec<u8> = (0..18 * STRIDE + 77).map(|place| (place / 3 % 251) as u8).collect();
    world.store("/bkt/k", &body).await;
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        // Some read nothing, others a while.
        clients.push((number % 4 * STRIDE, ask(&world, "/bkt/k", number % 4 * STRIDE).await));
        let held = world.service.read_ahead_bytes();
        assert!(held <= clients.len() * PIECE, "{held} bytes for {}", clients.len());
    }
    assert!(world.service.read_ahead_bytes() > 0, "they would read on");
    world.service.start_background_tasks();
    let released = world.service.read_ahead_released();
    let waited = tokio::time::timeout(Duration::from_secs(60), released).await;
    assert!(waited.is_ok(), "{} bytes are held", world.service.read_ahead_bytes());
    // Who reads on gets the bytes that follow.
    for (taken, client) in &mut clients {
        let next = read(client, STRIDE).await;
        assert!(next == body[*taken..*taken + STRIDE], "after {taken} bytes");
        *taken += STRIDE;
    }
    let (taken, client) = &mut clients[3];
    assert!(read(client, body.len() - *taken).await == body[*taken..]);
}
