"""deltalake, unmodified: writers that commit at once to one table by conditional puts, and none loses what another wrote."""

import concurrent.futures
import os
import pathlib
import sys
import unittest

import pyarrow
from deltalake import DeltaTable, write_deltalake

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import suite  # noqa: E402

WRITERS, TURNS, ROWS = 4, 4, 50
OPTIONS = {
    "AWS_ACCESS_KEY_ID": suite.OWNER[0],
    "AWS_SECRET_ACCESS_KEY": suite.OWNER[1],
    "AWS_ENDPOINT_URL": suite.URL,
    "AWS_REGION": suite.REGION,
    "AWS_ALLOW_HTTP": "true",
    "AWS_EC2_METADATA_DISABLED": "true",
    "conditional_put": "etag",
}


def rows(writer, turn):
    return pyarrow.table({"writer": [writer] * ROWS, "turn": [turn] * ROWS, "row": list(range(ROWS))})


class Tables(unittest.TestCase):
    def setUp(self):
        self.url = f"s3://demo/delta/{os.getpid()}/{self.id().rsplit('.', 1)[1]}"

    def table(self, **version):
        return DeltaTable(self.url, storage_options=OPTIONS, **version)

    def write(self, data, **options):
        write_deltalake(self.url, data, storage_options=OPTIONS, **options)

    def read(self, **version):
        return pyarrow.table(self.table(**version).to_pyarrow_table())

    def test_writers_at_once_lose_nothing(self):
        self.write(rows(-1, -1))

        def append(writer):
            for turn in range(TURNS):
                self.write(rows(writer, turn), mode="append")

        with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(append, range(WRITERS)))
        table = self.table()
        self.assertEqual(table.version(), WRITERS * TURNS)
        found = self.read().group_by(["writer", "turn"]).aggregate([("row", "count"), ("row", "sum")]).to_pylist()
        wanted = {(writer, turn) for writer in range(WRITERS) for turn in range(TURNS)} | {(-1, -1)}
        self.assertEqual({(row["writer"], row["turn"]) for row in found}, wanted)
        self.assertEqual({(row["row_count"], row["row_sum"]) for row in found}, {(ROWS, sum(range(ROWS)))})
        self.assertEqual(len(table.history()), WRITERS * TURNS + 1)

    def test_a_table_that_is_made_by_many_at_once_holds_what_each_was_told(self):
        def create(writer):
            try:
                self.write(rows(writer, 0), mode="error")
                return writer
            except Exception as error:
                self.assertRegex(str(error), "(?i)already exists|conflict|transaction")
                return None

        with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
            made = [writer for writer in pool.map(create, range(WRITERS)) if writer is not None]
        # A writer that finds the table only when it commits adds to it.
        self.assertEqual(self.table().version(), len(made) - 1)
        self.assertEqual(sorted(self.read().column("writer").to_pylist()), sorted(made * ROWS))

    def test_a_table_is_changed_compacted_and_read_as_it_was(self):
        for turn in range(3):
            self.write(rows(0, turn), mode="append")
        self.table().delete("turn = 1")
        self.table().update(predicate="turn = 2", updates={"row": "row + 1000"})
        table = self.table()
        table.optimize.compact()
        table.create_checkpoint()
        self.table().vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
        found = self.read().to_pylist()
        self.assertEqual({row["turn"] for row in found}, {0, 2})
        self.assertEqual(sorted(row["row"] for row in found if row["turn"] == 2), list(range(1000, 1000 + ROWS)))
        self.assertEqual(len(found), 2 * ROWS)


if __name__ == "__main__":
    unittest.main()
