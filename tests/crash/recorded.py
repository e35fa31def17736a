"""A server of which `strace` records every call that changes its files, with the time at which each answer was read; and a look at states that are
made of that.

`record FOLDER WRITES` leaves `recording.json` in the folder, the log of each life, and the data directory after it. Where the folder has `left.json`, the
first life begins on `begins`, which a cut has left of an earlier recording, and what was acknowledged before that cut has to be there as well. `look FOLDER`
answers each line of its input, which names a data directory and the moment at which its server ended, with what is missing in it.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import harness

# The lives of the recorded server, by how each ends: what was killed goes on, and what was stopped. What a cut has left goes on for one.
ENDS = [signal.SIGKILL, signal.SIGTERM, signal.SIGKILL]
ENDS_AFTER_CUT = [signal.SIGKILL]
# In one of them syncs are slow, as on a disk that has other work, so that more is under way and not on disk.
SLOW_LIFE, SLOW_MICROSECONDS = 1, 20_000
# Files, names, their bytes and their syncs; and what would change them in a way that nobody knows of.
CALLS = """openat open creat close dup dup2 dup3 fcntl read readv lseek write pwrite64 writev pwritev pwritev2 ftruncate truncate fallocate rename renameat
    renameat2 unlink unlinkat rmdir mkdir mkdirat link linkat symlink symlinkat fsync fdatasync sync_file_range syncfs sync msync mmap copy_file_range
    sendfile splice ioctl io_uring_setup execve""".split()
BUFFER_BYTES_MAX = 64 << 20
# Writes to a server that was started on a state, before it is stopped.
WRITES_AFTER = 3
# Workers of these are none of those that were recorded.
WORKER_AFTER = 1_001
STOP_SECONDS = 60


def strace(log, is_slow):
    traced = ["strace", "-f", "--seccomp-bpf", "-ttt", "-xx", "-s", str(BUFFER_BYTES_MAX), "-o", log, "-e", f"trace={','.join(CALLS)}"]
    slow = ["-e", f"inject=fsync,fdatasync:delay_enter={SLOW_MICROSECONDS}"] if is_slow else []
    return [*traced, "-e", "signal=none", *slow]


def demanded(recorded, before, grace_seconds):
    """What was acknowledged before a moment, but for what may be lost."""
    return [fact for fact in recorded["facts"] if fact[0] < before - grace_seconds]


def begun(make, folder, grace_seconds):
    """What stands in the recording before its first life: the facts, how many lives others have lived, and the folder that the data directory is made of."""
    left = pathlib.Path(folder, "left.json")
    if not left.exists():
        return {"facts": [], "lived": 0}
    left = json.loads(left.read_text())
    before = json.loads(pathlib.Path(left["recording"], "recording.json").read_text())
    make.begun = dict(before["begun"])
    shutil.copytree(f"{folder}/begins", f"{folder}/data")
    return {
        "facts": demanded(before, left["before"], grace_seconds),
        "lived": before["lived"] + len(before["lives"]),
        "begins": "begins",
    }


def record(make, folder, writes, grace_seconds, flags):
    data, lives = f"{folder}/data", []
    recorded = begun(make, folder, grace_seconds)
    facts, lived = recorded["facts"], recorded["lived"]
    kept = len(facts)
    for life, end in enumerate(ENDS_AFTER_CUT if "begins" in recorded else ENDS):
        log, after = f"life-{life}.strace", f"after-{life}"
        server = harness.Server(data, flags, strace(f"{folder}/{log}", life == SLOW_LIFE))
        try:
            ready, stop, enough = time.time(), threading.Event(), threading.Event()
            session, first = make(server.url), (lived + life) * harness.WRITERS
            needed = len(facts) + writes
            threads, failures = harness.write_until(session, facts, stop, needed, 0.0, enough, first, time.time)
            if not enough.wait(300):
                failures.append(f"only {len(facts)} of {needed} writes were acknowledged in five minutes")
            stop.set()
            os.kill(server.pid, end)
            for thread in threads:
                thread.join(60)
            server.process.wait(60)
        finally:
            server.stop_at_once()
        if failures:
            sys.exit("\n".join(failures))
        shutil.copytree(data, f"{folder}/{after}")
        lives.append({"log": log, "ready": ready, "after": after})
    recorded |= {"data": data, "lives": lives, "begun": getattr(make, "begun", {})}
    pathlib.Path(folder, "recording.json").write_text(json.dumps(recorded))
    print(f"{len(facts) - kept} acknowledged" + (f", and {kept} before the cut" if lived else ""))


def look(make, folder, grace_seconds, flags):
    recorded = json.loads(pathlib.Path(folder, "recording.json").read_text())
    for line in sys.stdin:
        asked = json.loads(line)
        facts = [fact for _, fact in demanded(recorded, asked["before"], grace_seconds if asked["isCut"] else 0)]
        make.begun = dict(recorded["begun"])
        try:
            found = list(looked(make, asked["data"], facts, flags))
        except (Exception, SystemExit) as error:
            found = [f"{type(error).__name__}: {error}"]
        print(json.dumps(found), flush=True)


def looked(make, data, facts, flags):
    """What is missing where a server is started, what it does wrong afterwards, and what is wrong with what it leaves."""
    server = harness.Server(data, flags)
    try:
        session = make(server.url)
        yield from session.missing(facts)
        if hasattr(session, "torn"):
            yield from session.torn(facts)
        session.is_alone = True
        later = [session.write(WORKER_AFTER, number) for number in range(WRITES_AFTER)]
        yield from (f"after more writes: {missing}" for missing in make(server.url).missing(later))
        server.process.terminate()
        code = server.process.wait(STOP_SECONDS)
        if code:
            yield f"it stopped with {code}"
    finally:
        server.stop_at_once()
    verified = subprocess.run([harness.BINARY, "verify", *harness.verify_flags(), "--data", data], capture_output=True, text=True)
    if verified.returncode:
        yield f"verify: {verified.returncode}, {verified.stdout.strip()} {verified.stderr.strip()}"
