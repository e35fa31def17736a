"""Clients that ask for much and read nothing, by the memory of a real process."""

import http.client
import pathlib
import resource
import socket
import unittest
import urllib.parse

from own_process import Server, wait_for

READERS = 1_000
MIB = 1024 * 1024
# An object, of which the sockets of a reader take a small part.
OBJECT_BYTES = 64 * MIB
# A piece of a body: what stands in the connection and what was read ahead are less. A few readers may hold 1 MiB each while they read.
STALLED_BYTES = 256 * 1024
# What the process takes for other things than its readers.
ROOM_BYTES = 64 * MIB


class StalledReaders(unittest.TestCase):
    def memory(self, name):
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(name + ":"))

    def ask(self):
        """A connection that has asked for the object and takes nothing of the answer."""
        reader = socket.socket()
        self.addCleanup(reader.close)
        # Before it connects, so that the window of the connection is no larger.
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect((self.url.hostname, self.url.port))
        reader.sendall(f"GET {self.url.path}?{self.url.query} HTTP/1.1\r\nHost: {self.url.netloc}\r\n\r\n".encode())
        return reader

    def test_a_thousand_that_read_nothing_hold_a_piece_each_at_most(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        files = min(hard, 2 * READERS + 512)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, files), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.server = Server(self, None, "--answer-idle-ms-max", "600000", "--answer-rate-min", "0")
        self.server.s3.put_object(Bucket="demo", Key="large", Body=bytes(OBJECT_BYTES))
        self.assertEqual(len(self.server.s3.get_object(Bucket="demo", Key="large")["Body"].read()), OBJECT_BYTES)
        self.url = urllib.parse.urlsplit(self.server.s3.generate_presigned_url("get_object", Params={"Bucket": "demo", "Key": "large"}))
        before = self.memory("VmRSS")
        readers = [self.ask() for _ in range(READERS)]
        # All of them are answered: the head of the answer is there, and is left where it is.
        for reader in readers:
            reader.settimeout(60)
            self.assertEqual(reader.recv(12, socket.MSG_PEEK), b"HTTP/1.1 200")
        # They are served still: one that reads on gets what follows, and others are answered.
        answer = http.client.HTTPResponse(readers[0])
        answer.begin()
        self.assertEqual(len(answer.read(2 * MIB)), 2 * MIB)
        self.server.s3.put_object(Bucket="demo", Key="small", Body=b"small")
        grown = self.memory("VmHWM") - before
        print(f"{READERS} stalled readers: {grown // MIB} MiB at most, {grown // READERS // 1024} KiB each")
        self.assertLessEqual(grown, READERS * STALLED_BYTES + ROOM_BYTES)
