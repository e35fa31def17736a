"""A process that may open few files, and clients that take more connections than it has."""

import socket
import unittest
import urllib.error
import urllib.parse
import urllib.request

from own_process import Server, wait_for

OPEN_FILES = 96


class OpenFiles(unittest.TestCase):
    def status(self, path):
        try:
            with urllib.request.urlopen(self.server.url + path, timeout=20) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            return refused.code

    def test_health_answers_and_nobody_waits_for_nothing_where_connections_are_more_than_open_files(self):
        self.server = Server(self, None, "--head-ms-max", "600000", "--answer-idle-ms-max", "600000", open_files=OPEN_FILES)
        body = bytes(8 * 1024 * 1024)
        self.server.s3.put_object(Bucket="demo", Key="large", Body=body)
        url = urllib.parse.urlsplit(self.server.s3.generate_presigned_url("get_object", Params={"Bucket": "demo", "Key": "large"}))
        held = []
        for _ in range(OPEN_FILES // 2):
            silent = socket.create_connection((url.hostname, url.port), timeout=20)
            self.addCleanup(silent.close)
            silent.sendall(f"GET {url.path}?{url.query} HTTP/1.1\r\nHost: {url.netloc}\r\n\r\n".encode())
            held.append(silent)
        # Each is answered: it is served, and reads nothing, or it is told to come again.
        heads = {reader.recv(12) for reader in held}
        self.assertEqual(heads, {b"HTTP/1.1 200", b"HTTP/1.1 503"})
        self.assertEqual(self.status("/_ops/health/ready"), 200)
        self.assertEqual(self.status("/demo/large"), 503)
        for reader in held:
            reader.close()
        # The server sees their ends a moment after its clients do.
        wait_for(lambda: self.status("/demo/large") == 403)
        self.assertEqual(len(self.server.s3.get_object(Bucket="demo", Key="large")["Body"].read()), len(body))


if __name__ == "__main__":
    unittest.main()
