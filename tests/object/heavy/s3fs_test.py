"""s3fs-fuse, unmodified: a bucket as a folder of the file system."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import command  # noqa: E402

MIB = 1024 * 1024


class Mounted(command.Command):
    program = package = "s3fs"

    def setUp(self):
        super().setUp()
        self.mount = self.folder / "mount"
        self.mount.mkdir()
        secret = self.folder / "secret"
        secret.touch(mode=0o600)
        secret.write_text(f"{command.KEY}:{command.SECRET}")
        options = f"passwd_file={secret},url={command.URL},use_path_request_style,multipart_size=5,endpoint={command.REGION}"
        self.ok("demo", self.mount, "-o", options)
        self.addCleanup(subprocess.run, ["umount", self.mount], check=True)

    def test_files_are_written_changed_renamed_and_deleted(self):
        content = os.urandom(12 * MIB + 7)
        large = self.mount / "large"
        large.write_bytes(content)
        self.assertEqual(large.read_bytes(), content)
        with large.open("r+b") as file:
            file.seek(6 * MIB)
            file.write(b"in the middle")
        changed = content[: 6 * MIB] + b"in the middle" + content[6 * MIB + 13 :]
        self.assertEqual(large.read_bytes(), changed)
        folder = self.mount / "folder"
        folder.mkdir()
        for number in range(30):
            (folder / f"{number}").write_text(str(number))
        with (folder / "7").open("a") as file:
            file.write(" and more")
        folder.rename(self.mount / "renamed")
        self.assertEqual((self.mount / "renamed/7").read_text(), "7 and more")
        self.assertEqual(len(list((self.mount / "renamed").iterdir())), 30)
        (self.mount / "renamed/8").chmod(0o600)
        self.assertEqual((self.mount / "renamed/8").stat().st_mode & 0o777, 0o600)
        (self.mount / "link").symlink_to("renamed/9")
        self.assertEqual((self.mount / "link").read_text(), "9")
        for path in [*(self.mount / "renamed").iterdir()]:
            path.unlink()
        (self.mount / "renamed").rmdir()
        self.assertEqual(sorted(path.name for path in self.mount.iterdir()), ["large", "link"])


if __name__ == "__main__":
    unittest.main()
