"""s5cmd, unmodified: files go up in parts and come down, under odd names, by wildcards, from a pipe, and when they are empty."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import suite  # noqa: E402
from aws import ENVIRONMENT, HTTP, CommandLine  # noqa: E402

MIB = 1024 * 1024


class Files(CommandLine):
    s3 = suite.client()

    def run_s5cmd(self, *arguments, stdin=None):
        command = ["s5cmd", *HTTP, *map(str, arguments)]
        return subprocess.run(command, env=ENVIRONMENT, input=stdin, capture_output=True, timeout=120)

    def s5cmd(self, *arguments, **options):
        done = self.run_s5cmd(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def names(self, prefix):
        """The keys below a prefix, without it."""
        listed = self.s3.list_objects_v2(Bucket="demo", Prefix=prefix)
        return {found["Key"].removeprefix(prefix) for found in listed.get("Contents", [])}

    def test_a_file_goes_up_in_parts_and_comes_down(self):
        content = os.urandom(11 * MIB + 3)
        down = self.folder / "down.bin"
        self.s5cmd("cp", "--part-size", 5, self.file(content, "up.bin"), "s3://demo/s5cmd/up.bin")
        self.s5cmd("cp", "--part-size", 5, "s3://demo/s5cmd/up.bin", down)
        self.assertEqual(down.read_bytes(), content)
        self.assertTrue(self.s3.head_object(Bucket="demo", Key="s5cmd/up.bin")["ETag"].endswith('-3"'))

    def test_names_that_mean_something_elsewhere_are_names(self):
        names = [
            "a blank", " at both ends ", "plus+and%20percent", "ü ñ 日本.txt", "e\u0301", "question?and#hash", "a=b&c=d", "quote'\"",
            "star*", "[brackets]", "tab\there", "~tilde", "deep/er/name", "deep/empty", "semi;colon,comma", "100%", "emoji \U0001f600",
        ]  # fmt: skip
        for name in names:
            self.file(b"" if name.endswith("empty") else name.encode(), f"tree/{name}")
        self.s5cmd("cp", f"{self.folder}/tree/", "s3://demo/odd/")
        self.assertEqual(self.names("odd/"), set(names))
        down = self.folder / "down"
        self.s5cmd("cp", "s3://demo/odd/*", f"{down}/")
        found = {path.relative_to(down).as_posix(): path.read_bytes() for path in down.rglob("*") if path.is_file()}
        self.assertEqual(found, {name: b"" if name.endswith("empty") else name.encode() for name in names})
        for name in ("question?and#hash", "star*", "ü ñ 日本.txt", "deep/empty"):
            self.assertEqual(self.s5cmd("cat", "--raw", f"s3://demo/odd/{name}"), found[name])
        self.s5cmd("cp", "--raw", "s3://demo/odd/star*", "s3://demo/copied/[raw] *")
        self.assertEqual(self.names("copied/"), {"[raw] *"})
        self.s5cmd("rm", "--raw", "s3://demo/odd/star*")
        self.assertEqual(self.names("odd/"), set(names) - {"star*"})
        self.s5cmd("rm", "s3://demo/odd/*")
        self.assertEqual(self.names("odd/"), set())

    def test_wildcards_take_what_they_fit_and_nothing_else(self):
        for name in ("a1.txt", "a2.txt", "b1.txt", "a/1.txt", "a1.csv"):
            self.s3.put_object(Bucket="demo", Key=f"wild/{name}", Body=name.encode())
        listed = self.s5cmd("ls", "s3://demo/wild/a?.txt").decode().split()
        self.assertEqual([word for word in listed if word.endswith(".txt")], ["a1.txt", "a2.txt"])
        self.s5cmd("mv", "s3://demo/wild/a*.txt", "s3://demo/moved/")
        self.assertEqual(self.names("wild/"), {"b1.txt", "a1.csv"})
        self.assertTrue({"a1.txt", "a2.txt"} <= self.names("moved/"))
        refused = self.run_s5cmd("cp", "s3://demo/wild/none*", f"{self.folder}/")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn(b"no object found", refused.stderr)

    def test_a_pipe_of_any_length_and_a_folder_that_changed_go_up(self):
        for content in (b"", os.urandom(5 * MIB), os.urandom(5 * MIB + 1)):
            self.s5cmd("pipe", "--part-size", 5, "s3://demo/piped", stdin=content)
            self.assertEqual(self.s5cmd("cat", "s3://demo/piped"), content)
        for name in ("same", "changed", "gone"):
            self.file(name.encode(), f"sync/{name}")
        self.s5cmd("sync", f"{self.folder}/sync/", "s3://demo/sync/")
        (self.folder / "sync/gone").unlink()
        self.file(b"of another length", "sync/changed")
        said = self.s5cmd("sync", "--delete", "--size-only", f"{self.folder}/sync/", "s3://demo/sync/").decode()
        self.assertEqual(len(said.splitlines()), 2, said)
        self.assertEqual(self.names("sync/"), {"same", "changed"})
        self.assertEqual(self.s5cmd("cat", "s3://demo/sync/changed"), b"of another length")
        self.assertIn(b"not found", self.run_s5cmd("cat", "s3://demo/sync/gone").stderr)


if __name__ == "__main__":
    import unittest

    unittest.main()
