"""A long walk of one stock client: hundreds of uploads, thousands of writes and every list to its end, over kills of the service."""

import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
# Calls without an answer that a client may make again: each kill gives it a few.
UNANSWERED_MAX = 200
sys.path[:0] = [str(HERE), str(HERE.parent)]
from commands import COMMANDS  # noqa: E402
from movie import mp4  # noqa: E402
from process import SEED, Server  # noqa: E402


def crowd(count):
    """The seed file of the tests, with so many more channels, each of which is a member of the first."""
    seed = json.loads(pathlib.Path(SEED).read_text())
    for number in range(count - len(seed["members"])):
        own = {"id": f"UC{number:022}", "title": f"Member {number}"}
        seed["accounts"].append({"id": f"member{number}", "email": f"member{number}@example.com", "channel": own})
        seed["members"].append({"creator": "alice", "member": f"member{number}", "level": "tin", "since": "2026-02-01T00:00:00Z"})
    return seed


def free_port():
    """A port that nobody listens at, below those that a client may be given: it must still be free after a kill."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def walk(client, count, folder):
    """The client's own words about what it walked, and how often the service was killed."""
    command = [*map(str, COMMANDS[client]()), str(folder / "film.mp4")]
    (folder / "film.mp4").write_bytes(mp4(payload=900_000))
    (folder / "seed.json").write_text(json.dumps(crowd(count)))
    server, kills, said = Server(folder / "data", seed=folder / "seed.json", port=free_port()), 0, ""
    unanswered = 0
    try:
        environment = {**os.environ, "TRIPTYCH_VIDEO_URL": server.url, "TRIPTYCH_WALK": str(count)}
        process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        for said in process.stdout:
            if said == "half\n":
                server.kill()
                server.start()
                kills += 1
            elif said == "unanswered\n" and unanswered < UNANSWERED_MAX:
                # What comes before was done: the service is back.
                process.stdin.write("back\n")
                unanswered += 1
            elif said == "unanswered\n":
                process.stdin.close()
            else:
                print(said, end="", flush=True)
        assert process.wait() == 0, f"the client of {client} ended with {process.returncode}"
    finally:
        server.stop()
    assert said.startswith("walked "), said
    return said.strip(), kills


if __name__ == "__main__":
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        walked, kills = walk(sys.argv[1], int(sys.argv[2]), pathlib.Path(folder))
    print(f"{sys.argv[1]} {walked}, {kills} kills, in {time.monotonic() - began:.0f} s")
