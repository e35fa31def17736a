"""Resumable uploads against real ends: the process killed in the middle, a week that passes, a film larger than memory should be."""

import http.client
import json
import pathlib
import sys
import tempfile
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from movie import mp4  # noqa: E402
from process import KEY, TOKEN, Server, raw  # noqa: E402

MIB = 1024 * 1024


def blob_bytes(server):
    """What the bodies take on disk."""
    return sum(file.stat().st_size for file in (server.data / "blobs").rglob("*") if file.is_file())


class Resume(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.server = Server(pathlib.Path(self.folder.name) / "data")
        self.addCleanup(self.server.stop)

    def open(self, total, title="Film"):
        """Opens a session; gives its path and query, which are good for every process on this data."""
        head = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "X-Upload-Content-Length": str(total)}
        body = json.dumps({"snippet": {"title": title, "categoryId": "22"}, "status": {"privacyStatus": "public"}}).encode()
        url = self.server.url + "/upload/youtube/v3/videos?part=snippet,status&uploadType=resumable"
        status, headers, text = raw("POST", url, body, head)
        self.assertEqual(status, 200, text)
        split = urllib.parse.urlsplit(headers["location"])
        return f"{split.path}?{split.query}"

    def put(self, session, body, span):
        status, headers, text = raw("PUT", self.server.url + session, body, {"Content-Range": f"bytes {span}"})
        return status, headers["range"], text

    def probe(self, session, total):
        """How many bytes are there, as the service says."""
        status, span, text = self.put(session, b"", f"*/{total}")
        self.assertEqual(status, 308, text)
        return int(span.rpartition("-")[2]) + 1 if span else 0

    def test_a_killed_process_keeps_what_it_acknowledged_and_the_upload_goes_on(self):
        film = mp4(seconds=7, payload=24 * MIB)
        total = len(film)
        session = self.open(total)
        self.assertEqual(self.put(session, film[:MIB], f"0-{MIB - 1}/{total}")[:2], (308, f"bytes=0-{MIB - 1}"))
        self.server.kill()
        self.server.start()
        self.assertEqual(self.probe(session, total), MIB)

        # The second time it dies while it reads: what it has kept by then is a prefix, and nothing else.
        address = urllib.parse.urlsplit(self.server.url)
        wire = http.client.HTTPConnection(address.hostname, address.port)
        wire.putrequest("PUT", session)
        wire.putheader("Content-Range", f"bytes {MIB}-{total - 1}/{total}")
        wire.putheader("Content-Length", str(total - MIB))
        wire.endheaders()
        wire.send(film[MIB:20 * MIB])
        deadline = time.monotonic() + 60
        while self.probe(session, total) == MIB and time.monotonic() < deadline:
            pass
        self.server.kill()
        wire.close()
        self.server.start()
        kept = self.probe(session, total)
        self.assertGreater(kept, MIB)
        self.assertLessEqual(kept, 20 * MIB)

        status, _, text = self.put(session, film[kept:], f"{kept}-{total - 1}/{total}")
        self.assertEqual(status, 200, text)
        made = json.loads(text)
        before = self.server.url
        self.server.kill()
        self.server.start()
        # An answer that was lost on its way is asked for again; addresses in it are those of the new process.
        again = text.replace(before.encode(), self.server.url.encode())
        self.assertEqual(self.put(session, b"", f"*/{total}"), (200, None, again))
        found = self.server.call("GET", f"/youtube/v3/videos?part=contentDetails,fileDetails&id={made['id']}")["items"][0]
        self.assertEqual((found["contentDetails"]["duration"], found["fileDetails"]["fileSize"]), ("PT7S", str(total)))

    def test_a_session_ends_after_its_week_and_its_bytes_are_freed_without_another_request(self):
        session = self.open(16 * MIB)
        self.assertEqual(self.put(session, bytes(8 * MIB), f"0-{8 * MIB - 1}/{16 * MIB}")[0], 308)
        self.assertGreaterEqual(blob_bytes(self.server), 8 * MIB)
        self.server.control("POST", "/_ops/clock", {"advanceMs": 7 * 86_400_000 - 60_000})
        self.assertEqual(self.probe(session, 16 * MIB), 8 * MIB)
        self.server.control("POST", "/_ops/clock", {"advanceMs": 60_001})
        deadline = time.monotonic() + 60
        while blob_bytes(self.server) >= 8 * MIB and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertLess(blob_bytes(self.server), MIB)
        self.assertEqual(self.put(session, b"", f"*/{16 * MIB}")[0], 404)

    def test_a_long_upload_takes_no_more_memory_than_a_short_one(self):
        """Half a gigabyte in one request: were any of it kept in memory, it would show."""
        def send(payload):
            film = mp4(seconds=3, payload=0)
            total = len(film) + payload
            session = self.open(total, f"{payload} bytes")
            address = urllib.parse.urlsplit(self.server.url)
            wire = http.client.HTTPConnection(address.hostname, address.port, timeout=300)
            wire.putrequest("PUT", session)
            wire.putheader("Content-Length", str(total))
            wire.endheaders()
            wire.send(film)
            for _ in range(payload // MIB):
                wire.send(bytes(MIB))
            answer = wire.getresponse()
            text = answer.read()
            wire.close()
            self.assertEqual(answer.status, 200, text)
            return json.loads(text)["id"], total

        # Several short ones first, so that what every upload needs is there.
        for _ in range(4):
            send(MIB)
        short = self.server.peak_bytes()
        id, total = send(512 * MIB)
        long = self.server.peak_bytes()
        self.assertLess(long - short, 48 * MIB, f"{short} bytes before, {long} after")
        found = self.server.call("GET", f"/youtube/v3/videos?part=fileDetails&id={id}&key={KEY}")["items"][0]
        self.assertEqual(found["fileDetails"]["fileSize"], str(total))
