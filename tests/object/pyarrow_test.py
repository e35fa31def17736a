"""pyarrow, unmodified: its file system writes streams in parts and reads them back."""

import os
import pathlib
import sys
import unittest

import pyarrow
from pyarrow import dataset, fs, parquet

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

    def test_writers_at_once_fill_a_folder_that_reads_as_one_table(self):
        rows = 300_000
        table = pyarrow.table({"group": [row % 3 for row in range(rows)], "row": range(rows), "noise": [os.urandom(24) for _ in range(rows)]})
        dataset.write_dataset(table, "demo/arrow/set", filesystem=self.files, format="parquet", partitioning=["group"])
        found = dataset.dataset("demo/arrow/set", filesystem=self.files, format="parquet", partitioning=["group"])
        self.assertEqual(found.count_rows(), rows)
        one = found.to_table(filter=dataset.field("group") == 1, columns=["row"]).column("row").to_pylist()
        self.assertEqual(sorted(one), list(range(1, rows, 3)))
        parquet.write_table(table, "demo/arrow/one.parquet", filesystem=self.files, row_group_size=50_000)
        self.assertTrue(suite.client().head_object(Bucket="demo", Key="arrow/one.parquet")["ETag"].count("-"))
        read = parquet.read_table("demo/arrow/one.parquet", filesystem=self.files, columns=["row", "noise"])
        self.assertEqual(read, table.select(["row", "noise"]))

    def test_folders_are_made_walked_moved_and_removed(self):
        self.files.create_dir("demo/arrow/made/empty")
        for name in ("a b", "ü", "deep/er"):
            with self.files.open_output_stream(f"demo/arrow/made/{name}") as stream:
                stream.write(name.encode())
        names = {info.path.removeprefix("demo/arrow/made/"): info.type for info in self.files.get_file_info(fs.FileSelector("demo/arrow/made", recursive=True))}
        self.assertEqual({name for name, kind in names.items() if kind == fs.FileType.File}, {"a b", "ü", "deep/er"})
        self.assertEqual(names["empty"], fs.FileType.Directory)
        self.files.move("demo/arrow/made/ü", "demo/arrow/made/moved")
        self.files.copy_file("demo/arrow/made/moved", "demo/arrow/made/copied")
        self.assertEqual(self.files.open_input_stream("demo/arrow/made/copied").read(), "ü".encode())
        self.assertEqual(self.files.get_file_info("demo/arrow/made/ü").type, fs.FileType.NotFound)
        self.files.delete_dir("demo/arrow/made")
        self.assertEqual(self.files.get_file_info("demo/arrow/made").type, fs.FileType.NotFound)


if __name__ == "__main__":
    unittest.main()
