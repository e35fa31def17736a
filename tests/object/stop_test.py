"""A service stops cleanly from the moment it says that it is ready."""

import os
import signal
import subprocess
import unittest

STARTS = 20


class Stop(unittest.TestCase):
    def test_a_signal_on_the_heels_of_the_ready_line_ends_with_code_0(self):
        for asked in (signal.SIGTERM, signal.SIGINT) * (STARTS // 2):
            command = [os.environ["TRIPTYCH_OBJECT_BINARY"], "--memory", "--port", "0"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
                for line in service.stdout:
                    if line.strip() == "object-put is ready":
                        service.send_signal(asked)
                self.assertEqual(service.wait(timeout=20), 0)


if __name__ == "__main__":
    unittest.main()
