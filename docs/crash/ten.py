# Records of 4 KiB, each with a commit sector: ten.py run SOCKET [careless], ten.py verify IMAGE MARKS
import socket
import struct
import sys


class Drive:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.take(18)
        self.socket.sendall(struct.pack(">I8sII", 3, b"IHAVEOPT", 1, 0))
        self.take(10)

    def take(self, count):
        return self.socket.recv(count, socket.MSG_WAITALL)

    def ask(self, kind, offset=0, data=b""):
        self.socket.sendall(
            struct.pack(">IHHQQI", 0x25609513, 0, kind, 0, offset, len(data)) + data
        )
        if struct.unpack(">IIQ", self.take(16))[1]:
            sys.exit("the drive has failed a request")


def run(path, careless=""):
    drive = Drive(path)
    for number in range(1, 9):
        drive.ask(1, 65536 + number * 4096, bytes([number]) * 4096)  # WRITE
        if not careless:
            drive.ask(3)  # FLUSH
        drive.ask(1, number * 512, bytes([number]) * 512)
        drive.ask(3)
        print(number, flush=True)


def verify(image, marks):
    disk = open(image, "rb").read(131072)
    for number in range(1, 9):
        committed = disk[number * 512] == number
        if committed and disk[65536 + number * 4096 :][:4096] != bytes([number]) * 4096:
            sys.exit(f"record {number} is committed and not whole")
        if not committed and f"{number}\n" in open(marks):
            sys.exit(f"record {number} was acknowledged and is missing")


{"run": run, "verify": verify}[sys.argv[1]](*sys.argv[2:])
