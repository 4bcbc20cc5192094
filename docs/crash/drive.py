"""A client of NBD in forty lines, of Python's standard library alone."""

import struct

READ, WRITE, FLUSH, TRIM, ZEROES = 0, 1, 3, 4, 6


class Drive:
    """A connection to a drive at nbd+unix:///?socket=PATH."""

    def __init__(self, uri: str) -> None:
        import socket  # here, since a check of an image, of which there are many, connects to nothing
        import urllib.parse

        path = urllib.parse.parse_qs(urllib.parse.urlsplit(uri).query)["socket"][0]
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.take(18)
        self.socket.sendall(struct.pack(">I8sII", 3, b"IHAVEOPT", 1, 0))
        self.size = struct.unpack(">QH", self.take(10))[0]
        self.asked = self.answered = 0

    def take(self, count: int) -> bytes:
        """Return so many bytes."""
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError("the drive has gone")
            data += more
        return data

    def send(self, kind: int, offset: int = 0, length: int = 0, data: bytes = b"", fua: bool = False) -> None:
        """Send a request, and do not wait for its answer."""
        self.asked += 1
        head = struct.pack(">IHHQQI", 0x25609513, fua, kind, self.asked, offset, length)
        self.socket.sendall(head + data)

    def wait(self) -> None:
        """Wait for the next answer, of a request that is no read."""
        _, error, _ = struct.unpack(">IIQ", self.take(16))
        self.answered += 1
        if error:
            raise OSError(error, "the drive refuses")

    def write(self, offset: int, data: bytes, fua: bool = False) -> None:
        """Write bytes."""
        self.send(WRITE, offset, len(data), data, fua)
        self.wait()

    def flush(self) -> None:
        """Make durable what was acknowledged."""
        self.send(FLUSH)
        self.wait()

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes."""
        self.send(READ, offset, length)
        self.wait()
        return self.take(length)
