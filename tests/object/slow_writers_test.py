"""Clients that announce much and bring it slowly, by the memory of a real process."""

import contextlib
import pathlib
import resource
import selectors
import socket
import unittest
import urllib.parse

from own_process import Server

WRITERS = 1_000
MIB = 1024 * 1024
# What each announces, and what it brings of that at once.
ANNOUNCED_BYTES = 64 * MIB
BROUGHT_BYTES = 64 * 1024
# What arrived and is not yet a piece, and the connection.
SLOW_BYTES = 128 * 1024
# What the process takes for other things than its writers.
ROOM_BYTES = 64 * MIB


class SlowWriters(unittest.TestCase):
    def memory(self, name):
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(name + ":"))

    def begin(self, key):
        """A connection that has brought a small part of a large object."""
        url = urllib.parse.urlsplit(self.server.s3.generate_presigned_url("put_object", Params={"Bucket": "demo", "Key": key}))
        writer = socket.create_connection((url.hostname, url.port))
        self.addCleanup(writer.close)
        head = f"PUT {url.path}?{url.query} HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Length: {ANNOUNCED_BYTES}\r\n\r\n"
        writer.sendall(head.encode() + bytes(BROUGHT_BYTES))
        return writer

    def test_a_thousand_that_bring_little_hold_little_keep_nobody_waiting_and_are_given_up(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        files = min(hard, 2 * WRITERS + 512)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, files), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        # The pause ends those that stop, the rate those that go on.
        self.server = Server(self, None, "--body-idle-ms-max", "8000", "--body-rate-min", str(BROUGHT_BYTES // 2))
        self.server.s3.put_object(Bucket="demo", Key="before", Body=bytes(MIB))
        before = self.memory("VmRSS")
        writers = [self.begin(f"slow/{number}") for number in range(WRITERS)]
        # A large body needs what the slow ones would hold if each had a thread.
        self.server.s3.put_object(Bucket="demo", Key="large", Body=bytes(MIB))
        self.assertEqual(self.server.s3.get_object(Bucket="demo", Key="large")["Body"].read(), bytes(MIB))
        grown = self.memory("VmHWM") - before
        print(f"{WRITERS} slow writers: {grown // MIB} MiB at most, {grown // WRITERS // 1024} KiB each")
        self.assertLessEqual(grown, WRITERS * SLOW_BYTES + ROOM_BYTES)
        # Each is told why; half of them go on meanwhile, a byte at a time.
        goes_on, answers = set(writers[::2]), []
        with selectors.DefaultSelector() as waited:
            for writer in writers:
                waited.register(writer, selectors.EVENT_READ)
            while waited.get_map():
                answered = [event.fileobj for event, _ in waited.select(1)]
                answers += [writer.recv(16) for writer in answered]
                for writer in answered:
                    waited.unregister(writer)
                goes_on.difference_update(answered)
                for writer in goes_on:
                    with contextlib.suppress(ConnectionError):
                        writer.send(b"z")
        self.assertEqual({answer.split()[1] for answer in answers}, {b"400"})
        self.assertEqual(self.server.s3.list_objects_v2(Bucket="demo", Prefix="slow/")["KeyCount"], 0)
