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

# Calls by which an attempt comes later after its write than the one before, so that the index follows meanwhile, and attempts at the most.
CALLS, ATTEMPTS = 10, 30


class Stop(unittest.TestCase):
    def test_a_disk_that_does_not_answer_holds_up_no_stop_and_loses_nothing(self):
        # Where the index is still behind the log, a stop needs files by their names; these are absent at once, and so nothing holds it up.
        self.assertTrue(any(self.is_held_up(attempt * CALLS) for attempt in range(ATTEMPTS)))

    def is_held_up(self, calls):
        """Stops a service while its disk does not answer, so many calls after a write; tells whether it waited for the disk. What was written is there in any case."""
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder, "data")
            service = self.started(data)
            self.call("tabs/create", [{"url": PAGE}])
            for _ in range(calls):
                self.call("tabs/query", [{}])
            # In the place of the directory of the records stands what never comes to an end of being opened, as a file of a disk that is gone.
            records, aside = data / "kv", data / "kv-aside"
            records.rename(aside)
            os.mkfifo(records)
            asked = time.monotonic()
            service.send_signal(signal.SIGTERM)
            code = service.wait(timeout=END_SECONDS)
            is_held_up = time.monotonic() - asked > DRAIN_SECONDS
            if is_held_up:
                self.assertEqual(code, 1)
                self.assertIn("the disk did not answer in time", service.stderr.read())
            records.unlink()
            aside.rename(records)
            service = self.started(data)
            tabs = self.call("tabs/query", [{}])["result"]
            self.assertTrue(any(PAGE in (tab.get("url"), tab.get("pendingUrl")) for tab in tabs), tabs)
            service.terminate()
            self.assertEqual(service.wait(timeout=END_SECONDS), 0)
            return is_held_up

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
