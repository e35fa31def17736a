"""Kills a real server, cuts its power, or backs it up while it is written to; starts it again, or on what is restored, and looks for what it
acknowledged.

`rounds(make)` runs the rounds that the command line asks for (`kill N`, `cut N` or `backup N`), or soaks it (`soak SECONDS`: `soak.py`). `make(url)` gives a fresh session with
`write(worker, number) -> fact` (raises if not acknowledged) and `missing(facts) -> [what is lost or broken]`.

A power cut stops the server, copies the image below its file system, kills the server, and mounts the copy: what the
device never got is gone. It needs root and loop devices; where they are missing the run fails and says so.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

BINARY = os.environ["TRIPTYCH_BINARY"]
SEED = os.environ["TRIPTYCH_SEED"]
WRITERS = 4
IMAGE_MIB = 512


class Server:
    """A running server on a data directory, ready to be asked."""

    def __init__(self, data, flags=()):
        name = pathlib.Path(BINARY).name
        self.log = tempfile.TemporaryFile()
        ready = pathlib.Path(data).parent / f"ready-{random.randrange(1 << 32)}.json"
        command = [BINARY, "--port", "0", "--data", data, "--seed", SEED, "--ready-file", ready, *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:
            if line.strip() == f"{name} is ready":
                break
        else:
            self.log.seek(0)
            sys.exit(f"{name} did not start again:\n{self.log.read().decode()[-4000:]}")
        self.url = json.loads(ready.read_text())["url"].rstrip("/")

    def stop_at_once(self):
        self.process.kill()
        self.process.wait()


def write_until(session, facts, stop, needed, grace_seconds, enough):
    """Writers that note what was acknowledged, with the time; they end at the first refusal after the kill.

    It is enough once `needed` facts are older than the grace, so that there is always something to look for.
    """

    def work(worker):
        number = 0
        while not stop.is_set():
            try:
                fact = session.write(worker, number)
            except Exception:
                if stop.is_set():
                    return
                raise
            facts.append((time.monotonic(), fact))
            if len(facts) >= needed and facts[needed - 1][0] <= time.monotonic() - grace_seconds:
                enough.set()
            number += 1

    def watched(worker):
        try:
            work(worker)
        except Exception as error:  # a refusal while the server lives is a finding of its own
            failures.append(f"writer {worker}: {error!r}")
            enough.set()

    failures = []
    threads = [threading.Thread(target=watched, args=(worker,), daemon=True) for worker in range(WRITERS)]
    for thread in threads:
        thread.start()
    return threads, failures


def one_round(make, prepare, end, grace_seconds, flags):
    """One server, one end, one look. Gives how many facts were acknowledged and which of them are missing."""
    with tempfile.TemporaryDirectory() as folder:
        data = prepare(folder)
        server = Server(data, flags)
        session = make(server.url)
        facts, stop, enough = [], threading.Event(), threading.Event()
        threads, failures = write_until(
            session, facts, stop, random.randrange(40, 200), grace_seconds, enough
        )
        if not enough.wait(120):
            failures.append(f"only {len(facts)} writes were acknowledged in two minutes")
        if end is not backup:
            stop.set()
        ended = time.monotonic()
        again = end(folder, server)
        stop.set()
        for thread in threads:
            thread.join(60)
        # What was acknowledged after the image was taken is not in it; what the grace covers may be lost.
        later = [fact for when, fact in facts if when > ended]
        facts = [fact for when, fact in facts if when <= ended - grace_seconds]
        if not facts:
            failures.append("nothing was acknowledged, so nothing was shown")
        if end is backup:
            if not later:
                failures.append("nothing was written while the backup was taken")
            server.stop_at_once()
            run(BINARY, "verify", *verify_flags(), "--data", again)
        server = Server(again, [*flags, *flags_after(end)])
        try:
            missing = failures + make(server.url).missing(facts)
        finally:
            server.stop_at_once()
            release(folder)
        return len(facts), missing


def prepare_plain(folder):
    return f"{folder}/data"


def kill(folder, server):
    server.stop_at_once()
    return f"{folder}/data"


def backup(folder, server):
    """A backup that is taken while the writers go on, restored to another directory."""
    asked = urllib.request.Request(f"{server.url}/_ops/backup", data=json.dumps({"to": f"{folder}/backups"}).encode())
    with urllib.request.urlopen(asked, timeout=60) as reply:
        reply.read()
    run(BINARY, "restore", "--from", f"{folder}/backups", "--data", f"{folder}/restored")
    return f"{folder}/restored"


def verify_flags():
    # object-put's own also reads every body.
    return ["--deep"] if pathlib.Path(BINARY).name == "object-put" else []


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"not run: {' '.join(command)} failed: {done.stderr.strip()}. A power cut needs root and loop devices.")


def prepare_image(folder):
    image = f"{folder}/disk.img"
    with open(image, "wb") as file:
        file.truncate(IMAGE_MIB << 20)
    run("mkfs.ext4", "-q", "-F", image)
    os.mkdir(f"{folder}/disk")
    run("mount", "-o", "loop", image, f"{folder}/disk")
    return f"{folder}/disk/data"


def cut(folder, server):
    os.kill(server.process.pid, signal.SIGSTOP)
    shutil.copyfile(f"{folder}/disk.img", f"{folder}/copy.img")
    server.stop_at_once()
    run("umount", f"{folder}/disk")
    os.mkdir(f"{folder}/copy")
    run("mount", "-o", "loop", f"{folder}/copy.img", f"{folder}/copy")
    return f"{folder}/copy/data"


def flags_after(end):
    # This machine was not started again, so the service is told what a real one would see.
    return ["--rebuild-index"] if end is cut else []


def release(folder):
    if os.path.ismount(f"{folder}/copy"):
        run("umount", f"{folder}/copy")


def rounds(make, grace_seconds=0.0, flags=()):
    """Runs the rounds with these flags; `grace_seconds` is what a service may lose to a power cut, never to a kill."""
    how, count = sys.argv[1], int(sys.argv[2])
    if how == "soak":
        import soak

        sys.exit(soak.run(make, count, flags))
    prepare, end, grace = {
        "kill": (prepare_plain, kill, 0.0),
        "cut": (prepare_image, cut, grace_seconds),
        "backup": (prepare_plain, backup, 0.0),
    }[how]
    held = acknowledged = 0
    for number in range(count):
        facts, missing = one_round(make, prepare, end, grace, flags)
        acknowledged += facts
        held += not missing
        print(f"{how} {number + 1}: {facts} acknowledged, {len(missing)} lost", *missing[:10], sep="\n  ")
    print(f"{pathlib.Path(BINARY).name}: {held} of {count} {how}s held, {acknowledged} writes acknowledged")
    sys.exit(held != count)
