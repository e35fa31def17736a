"""Files of captions that are made to break their reader: refused or kept within bounded memory, and the service goes on.

All have as many MiB as TRIPTYCH_BOMB_MIB says (2 without it, 100 is the most that captions may have); one always has 100.
"""

import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from movie import mp4  # noqa: E402
from process import TOKEN, Server, raw  # noqa: E402

MIB = 1024 * 1024
LONGEST = 100 * MIB
API = "/youtube/v3"
SIZE = int(os.environ.get("TRIPTYCH_BOMB_MIB", "2")) * MIB
# What the longest file may cost, whatever stands in it: its bytes, its text, and the most cues that are kept of it.
PEAK_MAX = 512 * MIB


def repeated(text, size, before="", after=""):
    """So many whole texts as fit."""
    return before + text * ((size - len(before) - len(after)) // len(text)) + after


def entities():
    """Entities of entities: a few lines that would be ten thousand million letters."""
    lines = ["<?xml version=\"1.0\"?>", "<!DOCTYPE tt [", "<!ENTITY a0 \"lol\">"]
    lines += [f"<!ENTITY a{at} \"{f'&a{at - 1};' * 10}\">" for at in range(1, 11)]
    return "\n".join([*lines, "]>", ttml("<p begin=\"0s\" end=\"1s\">&a10;</p>")])


def ttml(body):
    return f'<tt xmlns="http://www.w3.org/ns/ttml"><body><div>{body}</div></body></tt>'


CUE = "00:00:01,000 --> 00:00:02,000\n"
BOMBS = {
    "starts of cues, srt": lambda: repeated("1\n" + CUE, SIZE),
    "starts of cues, vtt": lambda: repeated("00:01.000 --> 00:02.000\n", SIZE, before="WEBVTT\n\n"),
    "cues of a letter, srt": lambda: repeated("1\n" + CUE + "x\n\n", SIZE),
    "starts of cues, sbv": lambda: repeated("0:00:01.000,0:00:02.000\n", SIZE),
    "pairs, scc": lambda: repeated("9420 9420 ", SIZE - MIB, before="Scenarist_SCC V1.0\n\n00:00:01:00\t"),
    "texts that are shown again, scc": lambda: repeated(
        "00:00:01:00\t9420 9420 " + "e1e1 " * 16 + "942f 942f\n\n", SIZE, before="Scenarist_SCC V1.0\n\n"
    ),
    "one long cue, srt": lambda: "1\n" + CUE + "x" * (SIZE - MIB) + "\n",
    "one long line, vtt": lambda: "WEBVTT\n\n" + "x" * (SIZE - MIB),
    "a million settings on one line, vtt": lambda: "WEBVTT\n\n00:01.000 --> 00:02.000" + " line:1%" * 1_000_000 + "\nx\n",
    "tags in each other, vtt": lambda: repeated("<b>", SIZE, before="WEBVTT\n\n00:01.000 --> 00:02.000\n"),
    "elements in each other, ttml": lambda: '<tt xmlns="http://www.w3.org/ns/ttml"><body><div>' + "<span>" * ((SIZE - MIB) // 6),
    "attributes, ttml": lambda: ttml(repeated(' a="b"', SIZE - MIB, before="<p", after="/>")),
    "styles, ttml": lambda: repeated(
        '<style id="a"/>', SIZE - MIB, before='<tt xmlns="http://www.w3.org/ns/ttml"><head><styling>', after="</styling></head></tt>"
    ),
    "entities of entities, ttml": entities,
    "a document type that names a file, ttml": lambda: '<!DOCTYPE tt SYSTEM "file:///etc/passwd">' + ttml("<p>x</p>"),
    "comments, vtt": lambda: repeated("NOTE x\n\n", SIZE, before="WEBVTT\n\n"),
    "regions, vtt": lambda: repeated("REGION\nid:a\n\n", SIZE, before="WEBVTT\n\n"),
}


class Bombs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server = Server(pathlib.Path(folder.name) / "data", "--body-idle-ms-max", "120000")
        self.addCleanup(self.server.stop)
        head = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "video/mp4"}
        query = f"/upload{API}/videos?part=snippet&uploadType=media"
        _, _, text = raw("POST", self.server.url + query, mp4(), head)
        self.video = json.loads(text)["id"]

    def insert(self, name, file):
        metadata = {"snippet": {"videoId": self.video, "language": "en", "name": name}}
        body = b"".join([
            b"--B\r\nContent-Type: application/json\r\n\r\n", json.dumps(metadata).encode(),
            b"\r\n--B\r\nContent-Type: application/octet-stream\r\n\r\n", file, b"\r\n--B--",
        ])
        head = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "multipart/related; boundary=B"}
        status, _, text = raw("POST", f"{self.server.url}/upload{API}/captions?part=snippet&uploadType=multipart", body, head)
        return status, json.loads(text)

    def check(self, name, file):
        """Uploads a file, and looks at what it came to and at what it cost."""
        self.assertLessEqual(len(file), LONGEST)
        status, told = self.insert(name, file)
        self.assertIn(status, (200, 400), told)
        if status == 200:
            state = told["snippet"]["status"]
            self.assertIn(state, ("failed", "serving"), told)
            target = f"{self.server.url}{API}/captions/{told['id']}?tfmt=ttml"
            converted, _, _ = raw("GET", target, headers={"Authorization": f"Bearer {TOKEN}"})
            self.assertEqual(converted, 200 if state == "serving" else 400)
        peak = self.server.peak_bytes()
        self.assertLess(peak, PEAK_MAX, f"{peak // MIB} MiB after {name}")
        shown = self.server.call("GET", f"{API}/videos?part=id&id={self.video}")
        self.assertEqual(len(shown["items"]), 1)

    def test_no_file_of_captions_costs_more_than_a_bounded_memory_and_the_service_goes_on(self):
        for name, make in BOMBS.items():
            with self.subTest(name):
                self.check(name, make().encode())

    def test_100_mib_of_starts_of_cues_cost_no_more_than_their_share(self):
        self.check("longest", repeated("1\n" + CUE, LONGEST).encode())

    def test_a_file_that_is_longer_than_captions_may_be_is_refused_before_it_is_read(self):
        status, told = self.insert("long", b"1\n" * (LONGEST // 2 + 1))
        self.assertGreaterEqual(status, 400, told)
        self.assertLess(self.server.peak_bytes(), PEAK_MAX)

    def test_no_entity_becomes_text_and_no_file_of_the_machine_is_read(self):
        for make in (BOMBS["entities of entities, ttml"], BOMBS["a document type that names a file, ttml"]):
            _, told = self.insert(str(make), make().encode())
            self.assertEqual((told["snippet"]["status"], told["snippet"]["failureReason"]), ("failed", "processingFailed"))


if __name__ == "__main__":
    unittest.main()
