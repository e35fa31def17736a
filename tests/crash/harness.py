"""Kills a real server, cuts its power, or backs it up while it is written to; starts it again, or on what is restored, and looks for what it
acknowledged. What was killed is written to again and killed again, sometimes while it starts.

`rounds(make)` runs the rounds that the command line asks for (`kill N`, `cut N` or `backup N`), or soaks it (`soak SECONDS`: `soak.py`), or records it
(`record FOLDER WRITES`, `look FOLDER`: `recorded.py`). `make(url)` gives a fresh session with
`write(worker, number) -> fact` (raises if not acknowledged) and `missing(facts) -> [what is lost or broken]`. A session may also have `is_moment(fact)`, which
says after which facts the end comes, and `LEFT`, the words of a log that a start says when a kill came in the middle of work beside the requests: at least
one has to.

A power cut stops the server, copies the image below its file system, kills the server, and mounts the copy: what the
device never got is gone. It needs root and loop devices; where they are missing the run fails and says so.
"""

import contextlib
import json
import os
import pathlib
import random
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
# Kills of one store, before another begins: what was acknowledged in it is looked for at the end once more.
KILLS_TOGETHER = 10
# The share of kills before which the server is killed while it starts, and how long it has by then.
KILLED_AT_START = 0.3
START_SECONDS = 0.3
# The time that a start may take.
START_SECONDS_MAX = 120


class Server:
    """A running server on a data directory, ready to be asked; below a program, if one is told."""

    def __init__(self, data, flags=(), below=()):
        name = pathlib.Path(BINARY).name
        self.log = tempfile.TemporaryFile()
        ready = pathlib.Path(data).parent / f"ready-{random.randrange(1 << 32)}.json"
        self.process, self.is_below = started(data, flags, ready, self.log, below), bool(below)
        late = threading.Timer(START_SECONDS_MAX, self.kill)
        late.daemon = True
        late.start()
        for line in self.process.stdout:
            if line.strip() == f"{name} is ready":
                break
        else:
            late.cancel()
            self.log.seek(0)
            sys.exit(f"{name} did not start again:\n{self.log.read().decode()[-4000:]}")
        late.cancel()
        facts = json.loads(ready.read_text())
        self.url, self.pid = facts["url"].rstrip("/"), facts["pid"]

    def said(self, words):
        """Whether its log has these words. It is read without moving the place that the server writes at."""
        return words in os.pread(self.log.fileno(), 1 << 24, 0).decode(errors="replace")

    def kill(self):
        if not self.is_below:
            return self.process.kill()
        # The program that it runs below, and it: they are a group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def stop_at_once(self):
        self.kill()
        self.process.wait()


def started(data, flags, ready, log, below=()):
    command = [*below, BINARY, "--port", "0", "--data", data, "--seed", SEED, "--ready-file", ready, *flags]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=bool(below))


def write_until(session, facts, stop, needed, grace_seconds, enough, first_worker=0, clock=time.monotonic):
    """Writers that note what was acknowledged, with the time of a clock; they end at the first refusal after the kill.

    It is enough once `needed` facts are older than the grace, so that there is always something to look for.
    """

    is_moment = getattr(session, "is_moment", lambda fact: True)

    def work(worker):
        number = 0
        while not stop.is_set():
            try:
                fact = session.write(worker, number)
            except Exception:
                if stop.is_set():
                    return
                raise
            facts.append((clock(), fact))
            if len(facts) >= needed and facts[needed - 1][0] <= clock() - grace_seconds and is_moment(fact):
                enough.set()
            number += 1

    def watched(worker):
        try:
            work(worker)
        except Exception as error:  # a refusal while the server lives is a finding of its own
            failures.append(f"writer {worker}: {error!r}")
            enough.set()

    failures = []
    workers = range(first_worker, first_worker + WRITERS)
    threads = [threading.Thread(target=watched, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    return threads, failures


def one_round(make, prepare, end, grace_seconds, flags):
    """One server, one end, one look. Gives how many facts were acknowledged, which of them are missing, and whether work was left in the middle."""
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
            session = make(server.url)
            missing = failures + session.missing(facts)
            is_middle = left_in_the_middle(session, server)
        finally:
            server.stop_at_once()
            release(folder)
        return len(facts), missing, is_middle


def left_in_the_middle(session, server):
    words = getattr(session, "LEFT", None)
    return words is not None and server.said(words)


def kills(make, count, flags):
    """One store, which is written to and killed so many times. Gives for each kill what `one_round` does."""
    with tempfile.TemporaryDirectory() as folder:
        data, all_facts = f"{folder}/data", []
        server = Server(data, flags)
        session = make(server.url)
        for number in range(count):
            facts, stop, enough = [], threading.Event(), threading.Event()
            needed = random.randrange(20, 120)
            threads, failures = write_until(session, facts, stop, needed, 0.0, enough, number * WRITERS)
            if not enough.wait(120):
                failures.append(f"only {len(facts)} writes were acknowledged in two minutes")
            stop.set()
            server.stop_at_once()
            for thread in threads:
                thread.join(60)
            if random.random() < KILLED_AT_START:
                kill_at_start(folder, data, flags)
            facts = [fact for _, fact in facts]
            if not facts:
                failures.append("nothing was acknowledged, so nothing was shown")
            server = Server(data, flags)
            session = make(server.url)
            all_facts += facts
            looks_again = number == count - 1 and getattr(session, "looks_again", True)
            missing = failures + list(session.missing(all_facts if looks_again else facts))
            yield len(facts), missing, left_in_the_middle(session, server)
        server.stop_at_once()


def kill_at_start(folder, data, flags):
    with open(os.devnull, "w") as log:
        process = started(data, flags, f"{folder}/ready-never.json", log)
        time.sleep(random.random() * START_SECONDS)
        process.kill()
        process.wait()


def prepare_plain(folder):
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
    run("cp", "--sparse=always", f"{folder}/disk.img", f"{folder}/copy.img")
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


def all_rounds(make, how, count, grace_seconds, flags):
    if how == "kill":
        for begun in range(0, count, KILLS_TOGETHER):
            yield from kills(make, min(KILLS_TOGETHER, count - begun), flags)
        return
    prepare, end, grace = {
        "cut": (prepare_image, cut, grace_seconds),
        "backup": (prepare_plain, backup, 0.0),
    }[how]
    for _ in range(count):
        yield one_round(make, prepare, end, grace, flags)


def rounds(make, grace_seconds=0.0, flags=()):
    """Runs the rounds with these flags; `grace_seconds` is what a service may lose to a power cut, never to a kill."""
    if sys.argv[1] in ("record", "look"):
        import recorded

        if sys.argv[1] == "record":
            return recorded.record(make, sys.argv[2], int(sys.argv[3]), grace_seconds, flags)
        return recorded.look(make, sys.argv[2], grace_seconds, flags)
    how, count = sys.argv[1], int(sys.argv[2])
    if how == "soak":
        import soak

        sys.exit(soak.run(make, count, flags))
    held = acknowledged = middle = 0
    for number, (facts, missing, is_middle) in enumerate(all_rounds(make, how, count, grace_seconds, flags)):
        acknowledged += facts
        held += not missing
        middle += is_middle
        where = ", in the middle of what was to go" if is_middle else ""
        print(f"{how} {number + 1}: {facts} acknowledged, {len(missing)} lost{where}", *missing[:10], sep="\n  ")
    looked = how == "kill" and hasattr(make, "LEFT")
    last = f"{pathlib.Path(BINARY).name}: {held} of {count} {how}s held, {acknowledged} writes acknowledged"
    print(last + (f", {middle} in the middle of what was to go" if looked else ""))
    # Kills that all missed that would have shown nothing of it.
    sys.exit(held != count or (looked and not middle))
