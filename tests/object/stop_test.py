"""A service stops cleanly from the moment it says that it is ready, and in time whatever its disk does."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import suite

STARTS = 20
BINARY = os.environ["TRIPTYCH_OBJECT_BINARY"]
DRAIN_SECONDS = 1
# The stores have five seconds once requests are drained; the rest is for a machine with other work.
END_SECONDS = DRAIN_SECONDS + 5 + 60
KEY = "kept/by/a/disk/that/does/not/answer"


def has_followed(records, words):
    """Tells whether the index has what is in the log: its rows come last, behind the long values and the notes of those."""
    return words in (records / "db").read_bytes()


class Stop(unittest.TestCase):
    def test_a_signal_on_the_heels_of_the_ready_line_ends_with_code_0(self):
        for asked in (signal.SIGTERM, signal.SIGINT) * (STARTS // 2):
            command = [BINARY, "--memory", "--port", "0"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
                for line in service.stdout:
                    if line.strip() == "object-put is ready":
                        service.send_signal(asked)
                self.assertEqual(service.wait(timeout=END_SECONDS), 0)

    def test_a_disk_that_does_not_answer_holds_up_no_stop_and_loses_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder, "data")
            service = self.with_an_object(data)
            # In the place of the directory of the records stands what never comes to an end of being opened, as a file of a disk that is gone.
            records, aside = data / "kv", data / "kv-aside"
            records.rename(aside)
            os.mkfifo(records)
            asked = time.monotonic()
            service.terminate()
            self.assertEqual(service.wait(timeout=END_SECONDS), 1)
            # It did wait for the disk: else nothing was shown.
            self.assertGreater(time.monotonic() - asked, DRAIN_SECONDS)
            self.assertIn("the disk did not answer in time", service.stderr.read())
            records.unlink()
            aside.rename(records)
            self.assert_object_is_kept(data)

    def test_a_stop_that_cannot_close_the_records_says_why_and_loses_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder, "data")
            service = self.with_an_object(data)
            records, aside = data / "kv", data / "kv-aside"
            records.rename(aside)
            service.terminate()
            self.assertEqual(service.wait(timeout=END_SECONDS), 1)
            self.assertIn("the stores could not be closed", service.stderr.read())
            aside.rename(records)
            self.assert_object_is_kept(data)

    def with_an_object(self, data):
        """A service that put an object, once its index has it: until then it needs files by their names, and would miss them before it closes."""
        service, client = self.started(data)
        client.create_bucket(Bucket="kept")
        client.put_object(Bucket="kept", Key=KEY, Body=b"kept")
        while not has_followed(data / "kv", KEY.encode()):
            client.list_objects_v2(Bucket="kept")
        return service

    def assert_object_is_kept(self, data):
        service, client = self.started(data)
        self.assertEqual(client.get_object(Bucket="kept", Key=KEY)["Body"].read(), b"kept")
        service.terminate()
        self.assertEqual(service.wait(timeout=END_SECONDS), 0)

    def started(self, data):
        """A service on a data directory, and a client of it."""
        ready = data.parent / "ready.json"
        drain = str(DRAIN_SECONDS * 1000)
        command = [BINARY, "--port", "0", "--data", data, "--seed", os.environ["TRIPTYCH_OBJECT_SEED"]]
        service = subprocess.Popen(
            [*command, "--ready-file", ready, "--drain-ms-max", drain, "--log", data.parent / "log"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(service.kill)
        self.assertTrue(any(line.strip() == "object-put is ready" for line in service.stdout))
        return service, suite.client(url=suite.ready_url(ready))


if __name__ == "__main__":
    unittest.main()
