"""The service stops in time whatever its disk does, and the next start has what was acknowledged."""

import os
import pathlib
import signal
import tempfile
import time
import unittest

import process

DRAIN_SECONDS = 1
# The stores have five seconds once requests are drained; the rest is for a machine with other work.
END_SECONDS = DRAIN_SECONDS + 5 + 60

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
            server = process.Server(data, "--drain-ms-max", str(DRAIN_SECONDS * 1000))
            self.addCleanup(server.process.kill)
            made = server.call("POST", "/youtube/v3/playlists?part=snippet", {"snippet": {"title": "Kept"}})
            for _ in range(calls):
                server.call("GET", "/youtube/v3/playlists?part=id&mine=true")
            # In the place of the directory of the records stands what never comes to an end of being opened, as a file of a disk that is gone.
            records, aside = data / "kv", data / "kv-aside"
            records.rename(aside)
            os.mkfifo(records)
            asked = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            code = server.process.wait(timeout=END_SECONDS)
            is_held_up = time.monotonic() - asked > DRAIN_SECONDS
            if is_held_up:
                self.assertEqual(code, 1)
                self.assertIn("the disk did not answer in time", pathlib.Path(str(data) + ".log").read_text())
            server.process.stdout.close()
            server.log.close()
            records.unlink()
            aside.rename(records)
            server.start()
            kept = server.call("GET", f"/youtube/v3/playlists?part=snippet&id={made['id']}")
            self.assertEqual(kept["items"][0]["snippet"]["title"], "Kept")
            server.stop()
            self.assertEqual(server.process.returncode, 0)
            return is_held_up


if __name__ == "__main__":
    unittest.main()
