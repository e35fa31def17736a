"""curl, with its own signatures: files, pipes, anonymous requests and virtual hosts."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import command  # noqa: E402

# curl signs whatever hash it is told, and tells the server none by itself.
SIGN = [
    "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD",
    "--aws-sigv4", f"aws:amz:{command.REGION}:s3", "--user", f"{command.KEY}:{command.SECRET}",
]  # fmt: skip


class Curl(command.Command):
    program = package = "curl"

    def curl(self, *arguments):
        """The status and the body."""
        said = self.ok("-sS", "-w", "\n%{http_code}", *arguments)
        body, _, status = said.rpartition(b"\n")
        return int(status), body

    def test_a_file_is_put_and_read_back(self):
        source = self.folder / "file"
        source.write_bytes(b"from curl")
        self.assertEqual(self.curl(*SIGN, "-T", source, f"{command.URL}/demo/curl"), (200, b""))
        self.assertEqual(self.curl(*SIGN, f"{command.URL}/demo/curl"), (200, b"from curl"))

    def test_an_unsigned_request_is_refused_where_the_bucket_is_not_public(self):
        status, body = self.curl(f"{command.URL}/demo/curl-private")
        self.assertEqual(status, 403)
        self.assertIn(b"<Code>AccessDenied</Code>", body)

    def test_a_public_bucket_is_read_without_keys(self):
        source = self.folder / "file"
        source.write_bytes(b"public")
        self.assertEqual(self.curl(*SIGN, "-T", source, f"{command.URL}/open/public")[0], 200)
        self.assertEqual(self.curl(f"{command.URL}/open/public"), (200, b"public"))

    def test_a_virtual_host_names_the_bucket(self):
        source = self.folder / "file"
        source.write_bytes(b"by host")
        port = command.URL.rpartition(":")[2]
        address = f"http://demo.localhost:{port}/by-host"
        self.assertEqual(self.curl(*SIGN, "-T", source, address)[0], 200)
        self.assertEqual(self.curl(*SIGN, f"{command.URL}/demo/by-host"), (200, b"by host"))

    def test_a_range_is_206(self):
        source = self.folder / "file"
        source.write_bytes(b"0123456789")
        self.curl(*SIGN, "-T", source, f"{command.URL}/demo/digits")
        self.assertEqual(self.curl(*SIGN, "-H", "Range: bytes=2-4", f"{command.URL}/demo/digits"), (206, b"234"))

    def test_an_upload_that_breaks_off_leaves_nothing(self):
        port = int(command.URL.rpartition(":")[2])
        import socket

        with socket.create_connection(("127.0.0.1", port)) as stream:
            head = f"PUT /open/broken HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 1000\r\n\r\n"
            stream.sendall(head.encode() + b"half")
        status, _ = self.curl(*SIGN, f"{command.URL}/open/broken")
        self.assertEqual(status, 404)


