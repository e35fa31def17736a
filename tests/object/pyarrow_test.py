"""pyarrow, unmodified: its file system writes streams in parts and reads them back."""

import os
import pathlib
import sys
import unittest

from pyarrow import fs

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import suite  # noqa: E402

MIB = 1024 * 1024


class FileSystem(unittest.TestCase):
    def setUp(self):
        self.files = fs.S3FileSystem(
            access_key=suite.OWNER[0], secret_key=suite.OWNER[1], endpoint_override=suite.URL, region=suite.REGION,
            request_timeout=60,
        )  # fmt: skip

    def test_a_stream_is_written_in_parts_and_read_back(self):
        content = os.urandom(12 * MIB)
        with self.files.open_output_stream("demo/arrow/stream.bin") as stream:
            for start in range(0, len(content), MIB):
                stream.write(content[start : start + MIB])
        self.assertEqual(self.files.get_file_info("demo/arrow/stream.bin").size, len(content))
        with self.files.open_input_file("demo/arrow/stream.bin") as file:
            self.assertEqual(file.read_at(1000, 6 * MIB), content[6 * MIB : 6 * MIB + 1000])
            self.assertEqual(file.read(), content)


if __name__ == "__main__":
    unittest.main()
