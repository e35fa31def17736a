"""rclone, unmodified: copies a folder up, checks it against the source, and copies it down."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import command  # noqa: E402


MIB = 1024 * 1024


class Rclone(command.Command):
    program = package = "rclone"

    def settings(self, **changed):
        return {
            "RCLONE_CONFIG_STORE_TYPE": "s3",
            "RCLONE_CONFIG_STORE_PROVIDER": "Other",
            "RCLONE_CONFIG_STORE_ENDPOINT": command.URL,
            "RCLONE_CONFIG_STORE_REGION": command.REGION,
            "RCLONE_CONFIG_STORE_ACCESS_KEY_ID": command.KEY,
            "RCLONE_CONFIG_STORE_SECRET_ACCESS_KEY": command.SECRET,
            **changed,
        }

    def rclone(self, *arguments):
        return self.ok("--retries", 1, *arguments, **self.settings())

    def refused(self, word, *arguments, **changed):
        done = self.run_program("--retries", 1, "--low-level-retries", 1, *arguments, **self.settings(**changed))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(word, done.stderr)

    def test_a_folder_goes_up_is_checked_and_comes_down(self):
        up, down = self.folder / "up", self.folder / "down"
        (up / "deep").mkdir(parents=True)
        (up / "small.txt").write_bytes(b"small")
        (up / "deep/large.bin").write_bytes(os.urandom(2_000_000))
        self.rclone("copy", up, "store:demo/rclone")
        self.rclone("check", up, "store:demo/rclone")
        self.rclone("copy", "store:demo/rclone", down)
        for name in ("small.txt", "deep/large.bin"):
            self.assertEqual((down / name).read_bytes(), (up / name).read_bytes())

    def test_everything_goes_up_in_parts_and_is_copied_in_parts(self):
        up, down = self.folder / "up", self.folder / "down"
        up.mkdir()
        for name, content in {"empty": b"", "small": b"x", "exact": os.urandom(5 * MIB), "three": os.urandom(10 * MIB + 1)}.items():
            (up / name).write_bytes(content)
        parts = ("--s3-upload-cutoff", 0, "--s3-chunk-size", "5M", "--s3-copy-cutoff", "5M")
        self.rclone("copy", *parts, up, "store:demo/rclone-parts")
        self.rclone("check", "--download", up, "store:demo/rclone-parts")
        self.rclone("moveto", *parts, "store:demo/rclone-parts/three", "store:demo/rclone-moved/three")
        self.rclone("copy", "store:demo/rclone-moved", down)
        self.assertEqual((down / "three").read_bytes(), (up / "three").read_bytes())
        self.rclone("purge", "store:demo/rclone-parts")
        self.assertEqual(self.rclone("lsf", "-R", "store:demo/rclone-parts"), b"")

    def test_a_file_that_is_gone_at_the_source_is_deleted_by_sync(self):
        source = self.folder / "source"
        source.mkdir()
        for name in ("stays", "goes"):
            (source / name).write_text(name)
        self.rclone("sync", source, "store:demo/synced")
        (source / "goes").unlink()
        self.rclone("sync", source, "store:demo/synced")
        self.assertEqual(self.rclone("lsf", "store:demo/synced").split(), [b"stays"])

    def test_errors_are_told_by_their_code(self):
        source = self.folder / "file"
        source.write_bytes(b"x")
        self.refused(b"directory not found", "lsf", "store:nowhere-at-all")
        wrong = {"RCLONE_CONFIG_STORE_SECRET_ACCESS_KEY": "wrong"}
        self.refused(b"SignatureDoesNotMatch", "lsf", "store:demo", **wrong)
        upload = ("copyto", "--s3-no-check-bucket", source, "store:demo/rclone-refused")
        self.refused(b"InvalidStorageClass", *upload, RCLONE_CONFIG_STORE_STORAGE_CLASS="OUTPOSTS")
