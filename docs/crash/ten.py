# Records of 4 KiB, each with a commit sector: ten.py run DISK [careless], ten.py verify DISK MARKS
import os
import sys


def run(disk, careless=""):
    drive = os.open(disk, os.O_RDWR)
    for number in range(1, 9):
        os.pwrite(drive, bytes([number]) * 4096, 65536 + number * 4096)
        if not careless:
            os.fsync(drive)
        os.pwrite(drive, bytes([number]) * 512, number * 512)
        os.fsync(drive)
        print(number, flush=True)


def verify(disk, marks):
    drive = open(disk, "rb").read(131072)
    for number in range(1, 9):
        committed = drive[number * 512] == number
        if committed and drive[65536 + number * 4096 :][:4096] != bytes([number]) * 4096:
            sys.exit(f"record {number} is committed and not whole")
        if not committed and f"{number}\n" in open(marks):
            sys.exit(f"record {number} was acknowledged and is missing")


{"run": run, "verify": verify}[sys.argv[1]](*sys.argv[2:])
