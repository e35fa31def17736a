"""The aws command line, unmodified, over http and https: what its two suites share."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ENVIRONMENT = {
    **os.environ,
    "AWS_ACCESS_KEY_ID": os.environ["TRIPTYCH_OBJECT_ACCESS_KEY"],
    "AWS_SECRET_ACCESS_KEY": os.environ["TRIPTYCH_OBJECT_SECRET_KEY"],
    "AWS_DEFAULT_REGION": os.environ["TRIPTYCH_OBJECT_REGION"],
    "AWS_EC2_METADATA_DISABLED": "true",
    "PYTHONWARNINGS": "ignore",
}
HTTP = ["--endpoint-url", os.environ["TRIPTYCH_OBJECT_URL"]]
HTTPS = ["--endpoint-url", os.environ["TRIPTYCH_OBJECT_TLS_URL"], "--no-verify-ssl"]
GUEST = "2f1d4c3b5a69788796a5b4c3d2e1f00112233445566778899aabbccddeeff001"


def aws(*arguments, stdin=None, service=HTTP):
    command = ["aws", *service, *map(str, arguments)]
    return subprocess.run(command, env=ENVIRONMENT, input=stdin, capture_output=True, timeout=120)


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ok(self, *arguments, **options):
        done = aws(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def json(self, *arguments, **options):
        return json.loads(self.ok("s3api", *arguments, **options) or b"{}")

    def refused(self, code, *arguments, **options):
        done = aws(*arguments, **options)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(code, done.stderr.decode())

    def file(self, content=b"one", name="one.txt"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def put(self, bucket, key, *options, content=b"one", service=HTTP):
        source = self.file(content)
        return self.json(
            "put-object", "--bucket", bucket, "--key", key, "--body", source, *options, service=service
        )  # fmt: skip

    def head(self, bucket, key, *options, service=HTTP):
        return self.json("head-object", "--bucket", bucket, "--key", key, *options, service=service)
