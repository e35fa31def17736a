"""Servers of this service that a test starts for itself, with flags of its own."""

import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

import boto3
from botocore.config import Config

SEED = json.loads(pathlib.Path(os.environ["TRIPTYCH_OBJECT_SEED"]).read_text(encoding="utf-8"))
ACCESS = SEED["accounts"][0]["keys"][0]
REGION = "us-east-1"


def wait_for(ready, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = ready()
        if found:
            return found
        threading.Event().wait(0.05)
    raise AssertionError("it did not get ready")


def client(service, url, key, secret, verify=None):
    config = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1})
    return boto3.client(
        service, endpoint_url=url, region_name=REGION, aws_access_key_id=key, aws_secret_access_key=secret, config=config, verify=verify
    )  # fmt: skip


class Server:
    """A server of this service; its keys come from `key_service`, where there is one."""

    def __init__(self, test, key_service=None, *flags, open_files=None):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.data = pathlib.Path(folder.name) / "data"
        ready = pathlib.Path(folder.name) / "ready.json"
        self.log = pathlib.Path(folder.name) / "log"
        keys = ["--key-service", key_service, "--key-service-access-key", "key-service-key", "--key-service-secret-key", "key-service-secret"]
        command = [
            os.environ["TRIPTYCH_OBJECT_BINARY"], "--port", "0", "--data", self.data, "--seed", os.environ["TRIPTYCH_OBJECT_SEED"],
            "--ready-file", ready, "--log", self.log, *(keys if key_service else []), *flags,
        ]  # fmt: skip
        if open_files:
            command = ["prlimit", f"--nofile={open_files}", *command]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.process = process
        test.addCleanup(process.wait)
        test.addCleanup(process.terminate)
        wait_for(ready.exists)
        self.url = json.loads(ready.read_text(encoding="utf-8"))["url"].rstrip("/")
        self.s3 = client("s3", self.url, ACCESS["accessKeyId"], ACCESS["secretAccessKey"])
