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

# Calls by which an attempt comes later after its write than the one before, so that the index follows meanwhile, and attempts at the most.
CALLS, ATTEMPTS = 10, 30


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
        # Where the index is still behind the log, a stop needs files by their names; these are absent at once, and so nothing holds it up.
        self.assertTrue(any(self.is_held_up(attempt * CALLS) for attempt in range(ATTEMPTS)))

    def is_held_up(self, calls):
        """Stops a service while its disk does not answer, so many calls after a write; tells whether it waited for the disk. What was written is there in any case."""
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder, "data")
            service, client = self.started(data)
            client.create_bucket(Bucket="kept")
            client.put_object(Bucket="kept", Key="a", Body=b"kept")
            for _ in range(calls):
                client.list_objects_v2(Bucket="kept")
            # In the place of the directory of the records stands what never comes to an end of being opened, as a file of a disk that is gone.
            records, aside = data / "kv", data / "kv-aside"
            records.rename(aside)
            os.mkfifo(records)
            asked = time.monotonic()
            service.terminate()
            code = service.wait(timeout=END_SECONDS)
            is_held_up = time.monotonic() - asked > DRAIN_SECONDS
            if is_held_up:
                self.assertEqual(code, 1)
                self.assertIn("the disk did not answer in time", service.stderr.read())
            records.unlink()
            aside.rename(records)
            service, client = self.started(data)
            self.assertEqual(client.get_object(Bucket="kept", Key="a")["Body"].read(), b"kept")
            service.terminate()
            self.assertEqual(service.wait(timeout=END_SECONDS), 0)
            return is_held_up

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
