"""restic, unmodified: backups of a folder that changes, read back bit by bit, and old ones forgotten."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import command  # noqa: E402

MIB = 1024 * 1024


class Restic(command.Command):
    program = package = "restic"

    def restic(self, *arguments):
        return self.ok(
            "--repo", f"s3:{command.URL}/demo/restic-{os.getpid()}", *arguments,
            RESTIC_PASSWORD="password of this test", AWS_ACCESS_KEY_ID=command.KEY, AWS_SECRET_ACCESS_KEY=command.SECRET,
            AWS_DEFAULT_REGION=command.REGION,
        )  # fmt: skip

    def test_a_folder_is_backed_up_changed_restored_and_pruned(self):
        source, restored = self.folder / "source", self.folder / "restored"
        (source / "deep").mkdir(parents=True)
        (source / "empty").write_bytes(b"")
        (source / "large").write_bytes(os.urandom(40 * MIB))
        for number in range(200):
            (source / "deep" / f"file {number}+ü").write_bytes(os.urandom(number * 37))
        self.restic("init")
        self.restic("backup", source)
        (source / "large").write_bytes(os.urandom(20 * MIB))
        self.restic("backup", source)
        self.restic("check", "--read-data")
        self.restic("forget", "--keep-last", "1", "--prune")
        self.restic("check", "--read-data")
        self.restic("restore", "latest", "--target", restored)
        for path in source.rglob("*"):
            if path.is_file():
                found = list(restored.rglob(path.name))
                self.assertEqual([one.read_bytes() for one in found], [path.read_bytes()], path)
        locks = self.restic("list", "locks")
        self.assertEqual(locks, b"")


if __name__ == "__main__":
    unittest.main()
