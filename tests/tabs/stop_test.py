"""The service stops in time whatever its disk does, and the next start has what was acknowledged."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request

BINARY = os.environ["TRIPTYCH_TABS_BINARY"]
SEED = os.environ["TRIPTYCH_TABS_SEED"]
TOKEN = json.loads(pathlib.Path(SEED).read_text())["extensions"][0]["token"]
DRAIN_SECONDS = 1
# The stores have five seconds once requests are drained; the rest is for a machine with other work.
END_SECONDS = DRAIN_SECONDS + 5 + 60
PAGE = "http://kept.test/"


def has_followed(records, words):
    """Tells whether the index has what is in the log: its rows come last, behind the long values and the notes of those."""
    return words in (records / "db").read_bytes()


class Stop(unittest.TestCase):
    def test_a_disk_that_does_not_answer_holds_up_no_stop_and_loses_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder, "data")
            service = self.started(data)
            self.call("tabs/create", [{"url": PAGE}])
            # Until then a stop needs files by their names, which are absent at once in the place of waiting for the disk.
            while not has_followed(data / "kv", PAGE.encode()):
                self.call("tabs/query", [{}])
            # In the place of the directory of the records stands what never comes to an end of being opened, as a file of a disk that is gone.
            records, aside = data / "kv", data / "kv-aside"
            records.rename(aside)
            os.mkfifo(records)
            asked = time.monotonic()
            service.send_signal(signal.SIGTERM)
            self.assertEqual(service.wait(timeout=END_SECONDS), 1)
            # It did wait for the disk: else nothing was shown.
            self.assertGreater(time.monotonic() - asked, DRAIN_SECONDS)
            self.assertIn("the disk did not answer in time", service.stderr.read())
            records.unlink()
            aside.rename(records)
            service = self.started(data)
            tabs = self.call("tabs/query", [{}])["result"]
            self.assertTrue(any(PAGE in (tab.get("url"), tab.get("pendingUrl")) for tab in tabs), tabs)
            service.terminate()
            self.assertEqual(service.wait(timeout=END_SECONDS), 0)

    def call(self, operation, arguments):
        head = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/v1/{operation}", json.dumps(arguments).encode(), head)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def started(self, data):
        ready = data.parent / "ready.json"
        command = [BINARY, "--port", "0", "--data", data, "--seed", SEED, "--ready-file", ready]
        service = subprocess.Popen(
            [*command, "--drain-ms-max", str(DRAIN_SECONDS * 1000), "--log", data.parent / "log"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(service.stdout.close)
        self.addCleanup(service.stderr.close)
        self.addCleanup(service.kill)
        self.assertTrue(any(line.strip() == "tabs-api is ready" for line in service.stdout))
        self.url = json.loads(ready.read_text())["url"].rstrip("/")
        return service


if __name__ == "__main__":
    unittest.main()
