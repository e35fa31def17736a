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
TITLE = "Kept by a disk that does not answer"


def has_followed(records, words):
    """Tells whether the index has what is in the log: its rows come last, behind the long values and the notes of those."""
    return words in (records / "db").read_bytes()


class Stop(unittest.TestCase):
    def test_a_disk_that_does_not_answer_holds_up_no_stop_and_loses_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder, "data")
            server = process.Server(data, "--drain-ms-max", str(DRAIN_SECONDS * 1000))
            self.addCleanup(server.process.kill)
            made = server.call("POST", "/youtube/v3/playlists?part=snippet", {"snippet": {"title": TITLE}})
            # Until then a stop needs files by their names, which are absent at once in the place of waiting for the disk.
            while not has_followed(data / "kv", made["id"].encode()):
                server.call("GET", "/youtube/v3/playlists?part=id&mine=true")
            # In the place of the directory of the records stands what never comes to an end of being opened, as a file of a disk that is gone.
            records, aside = data / "kv", data / "kv-aside"
            records.rename(aside)
            os.mkfifo(records)
            asked = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(timeout=END_SECONDS), 1)
            # It did wait for the disk: else nothing was shown.
            self.assertGreater(time.monotonic() - asked, DRAIN_SECONDS)
            said = pathlib.Path(str(data) + ".log").read_text()
            self.assertIn("the disk did not answer in time", said)
            server.process.stdout.close()
            server.log.close()
            records.unlink()
            aside.rename(records)
            server.start()
            kept = server.call("GET", f"/youtube/v3/playlists?part=snippet&id={made['id']}")
            self.assertEqual(kept["items"][0]["snippet"]["title"], TITLE)
            server.stop()
            self.assertEqual(server.process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
