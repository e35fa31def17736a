"""A service under load for a time: kills first, then one process that meets clock moves, faults on request, a full disk, slow clients and clients that
vanish, round after round.

After each round what was acknowledged is looked for, and the service is reset. At the end memory, file handles, threads and disk space have to be
where they were after the first round of that process, and writes as quick. It needs root and loop devices for the full disk.
"""

import json
import os
import pathlib
import socket
import struct
import tempfile
import threading
import time
import urllib.request

import harness

ROUND_SECONDS = 8
# The time for which the disk is full.
FULL_SECONDS = 3
# The part of the time that goes to kills.
KILLS_SHARE = 1 / 3
CLIENTS = 20
BODY_BYTES = 1_000_000
# The time in which a service is at rest again, and in which it takes writes again once the disk has room.
REST_SECONDS = 60
# What may be more at the end than after the first round: of memory for what the allocator keeps, of the disk for a base and a segment.
ROOM = {"memory MiB": 64, "handles": 8, "threads": 4, "disk MiB": 96}
# The least share of the first round's writes that the last one of its kind has.
# Other work on the machine makes some of it.
SPEED_MIN = 0.3
# The exit code of a service that could not write.
ENDED_FOR_DISK = 1


class Load:
    """Writers that go on after refusals, until they are stopped."""

    def __init__(self, make, url, first_worker):
        self.session = make(url)
        self.facts, self.refused, self.stopped = [], [], threading.Event()
        workers = range(first_worker, first_worker + harness.WRITERS)
        self.threads = [threading.Thread(target=self.work, args=(worker,), daemon=True) for worker in workers]
        for thread in self.threads:
            thread.start()

    def work(self, worker):
        number = 0
        while not self.stopped.is_set():
            try:
                self.facts.append(self.session.write(worker, number))
            except Exception as error:
                self.refused.append(repr(error))
                self.stopped.wait(0.05)
            number += 1

    def until_begun(self, end):
        while not self.facts and time.monotonic() < end:
            time.sleep(0.05)

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join(90)


def ops(url, path, body=None, method=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{url}/_ops/{path}", data=data, method=method), timeout=60) as reply:
        return reply.read()


def clock_moves(run, load):
    """Five minutes on, back, and on again: no further than signatures allow."""
    while run.goes_on():
        ops(run.server.url, "clock", {"advanceMs": 300_000})
        run.wait(1)
        ops(run.server.url, "clock", {"reset": True})
        run.wait(1)


def faults(run, load):
    while run.goes_on():
        ops(run.server.url, "faults", {"status": 503, "times": 5})
        ops(run.server.url, "faults", {"delayMs": 300, "times": 5})
        run.wait(0.5)
    ops(run.server.url, "faults", method="DELETE")


def full_disk(run, load):
    """A disk without room, which comes free again. A service that could not write a record ends, and a start goes on."""
    run.wait(1)
    ballast = pathlib.Path(run.folder, "disk", "ballast")
    refused = len(load.refused)
    with open(ballast, "wb") as file:
        ended, at, size = time.monotonic() + FULL_SECONDS, 0, 256 << 20
        while time.monotonic() < ended:
            try:
                os.posix_fallocate(file.fileno(), at, size)
                at += size
            except OSError:
                # What the service frees meanwhile is taken as well.
                size = max(size // 2, 4096)
                run.wait(0.01)
    ballast.unlink()
    run.figures["refused while the disk was full"] = run.figures.get("refused while the disk was full", 0) + len(load.refused) - refused
    before, end = len(load.facts), time.monotonic() + REST_SECONDS
    while len(load.facts) == before:
        if run.server.process.poll() == ENDED_FOR_DISK:
            run.ends_for_disk += 1
            return
        if time.monotonic() > end:
            run.failures.append(f"no write after the disk was full: {load.refused[-1:]}")
            return
        time.sleep(0.05)
    run.until_the_end()


def clients(run, load):
    """Some send a byte now and then, some take no answer, some are gone in the middle."""
    host, port = run.server.url.removeprefix("http://").split(":")
    method, path, headers = load.session.upload()
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {BODY_BYTES}\r\n{lines}\r\n".encode()
    kept = []
    while run.goes_on():
        for number in range(CLIENTS):
            client = socket.create_connection((host, int(port)), timeout=10)
            if number % 3 == 0:
                client.sendall(b"GET /_ops/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
                kept.append(client)
                continue
            try:
                client.sendall(head + bytes(BODY_BYTES // 2 if number % 3 == 1 else 1))
            except OSError:
                pass  # it was refused before it had said all
            if number % 3 == 1:
                # Reset, not ended.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.close()
            else:
                kept.append(client)
        for _ in range(4):
            run.wait(0.5)
            for client in kept:
                try:
                    client.send(b"x")
                except OSError:
                    pass  # the service has given it up
        for client in kept:
            client.close()
        kept.clear()


TROUBLES = [clock_moves, faults, full_disk, clients]


class Run:
    def __init__(self, make, folder, data, flags):
        self.make, self.folder, self.data, self.flags = make, folder, data, flags
        self.server = harness.Server(data, flags)
        self.failures, self.figures, self.rounds, self.acknowledged = [], {}, 0, 0
        self.refused = self.kills = self.ends_for_disk = 0
        self.end = 0.0

    def goes_on(self):
        return time.monotonic() < self.end and self.server.process.poll() is None

    def wait(self, seconds):
        time.sleep(max(0.0, min(seconds, self.end - time.monotonic())))

    def until_the_end(self):
        self.wait(ROUND_SECONDS)

    def round(self, trouble):
        """Load with a trouble, then a look at what was acknowledged. Gives the writes in a second; `None` ends it with a kill."""
        name = trouble.__name__ if trouble else "kill"
        load = Load(self.make, self.server.url, self.rounds * harness.WRITERS)
        # Some have much to prepare.
        load.until_begun(time.monotonic() + REST_SECONDS)
        began, self.end = time.monotonic(), time.monotonic() + ROUND_SECONDS
        self.rounds += 1
        if trouble:
            trouble(self, load)
            took = time.monotonic() - began
            load.stop()
            self.refused += len(load.refused)
        else:
            self.until_the_end()
            took = time.monotonic() - began
            load.stopped.set()
            self.server.stop_at_once()
            load.stop()
            self.kills += 1
        if self.server.process.poll() is not None:
            if trouble and (trouble is not full_disk or self.server.process.poll() != ENDED_FOR_DISK):
                self.failures.append(f"the service ended by itself in a round of {name}")
            self.server = harness.Server(self.data, self.flags)
        if not load.facts:
            self.failures.append(f"nothing was acknowledged in a round of {name}: {load.refused[-1:]}")
        lost = list(self.make(self.server.url).missing(load.facts))
        self.failures += [f"after a round of {name}: {loss}" for loss in lost]
        self.acknowledged += len(load.facts)
        print(f"{name}: {len(load.facts)} acknowledged, {len(load.refused)} refused, {len(lost)} lost", flush=True)
        ops(self.server.url, "reset", {}, "POST")
        return len(load.facts) / took

    def at_rest(self):
        """The figures once they are no more going down."""
        end, last = time.monotonic() + REST_SECONDS, self.measured()
        while time.monotonic() < end:
            time.sleep(3)
            now = self.measured()
            if all(now[name] >= last[name] for name in last):
                return last
            last = now
        return last

    def measured(self):
        process = pathlib.Path("/proc", str(self.server.process.pid))
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        files = [pathlib.Path(folder, name) for folder, _, names in os.walk(self.data) for name in names]
        return {
            "memory MiB": int(status["VmRSS"].split()[0]) >> 10,
            "handles": len(os.listdir(process / "fd")),
            "threads": int(status["Threads"]),
            "disk MiB": sum(blocks_of(file) for file in files) >> 11,
        }


def blocks_of(file):
    try:
        return file.stat().st_blocks
    except FileNotFoundError:
        return 0  # it went meanwhile


def run(make, seconds, flags):
    """Soaks a service; the last line is a row of the table. Gives the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        harness.IMAGE_MIB = 4096
        soaked = Run(make, folder, harness.prepare_image(folder), flags)
        try:
            row = rounds(soaked, seconds)
        finally:
            soaked.server.stop_at_once()
            harness.run("umount", f"{folder}/disk")
    print(*soaked.failures[:20], sep="\n")
    print(row)
    return bool(soaked.failures)


def rounds(run, seconds):
    began = time.monotonic()
    while time.monotonic() - began < seconds * KILLS_SHARE or not run.kills:
        run.round(None)
    first = {trouble: run.round(trouble) for trouble in TROUBLES}
    before = run.at_rest()
    last = first
    while last is first or time.monotonic() - began < seconds:
        last = {trouble: run.round(trouble) for trouble in TROUBLES}
    after = run.at_rest()
    for name, room in ROOM.items():
        if after[name] > before[name] + room:
            run.failures.append(f"{name}: {before[name]} after the first rounds, {after[name]} at the end")
    first, last = sum(first.values()), sum(last.values())
    if last < first * SPEED_MIN:
        run.failures.append(f"{first / len(TROUBLES):.0f} writes a second in the first rounds, {last / len(TROUBLES):.0f} in the last")
    name = pathlib.Path(harness.BINARY).name
    cells = [
        name,
        f"{time.monotonic() - began:.0f} s",
        f"{run.rounds}, {run.kills} of them with a kill",
        f"{run.acknowledged:,}",
        len([failure for failure in run.failures if failure.startswith("after a round")]),
        f"{run.refused:,}, {run.figures['refused while the disk was full']:,} of them for a full disk, and {run.ends_for_disk} ends",
        *(f"{before[figure]} → {after[figure]}" for figure in ROOM),
        f"{first / len(TROUBLES):.0f} → {last / len(TROUBLES):.0f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"
