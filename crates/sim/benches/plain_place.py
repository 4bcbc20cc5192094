"""A case of the bench under a class of Python, whose `place` is asked for every page it writes.

`python plain_place.py DEVICE INITIAL WORKLOAD WARM REQUESTS` prints the seconds that so many
requests took after those that warm the drive up, and the write amplification of the former.
"""

import sys

import wordline as wl


class Plain(wl.Scheme):
    """All data in one region, as `conventional` has them."""

    def layout(self, drive):
        """One region."""
        return wl.Layout.one_region(drive)

    def place(self, p, view):
        """Go there."""
        return wl.to("dense")


def main(device: str, initial: str, workload: str, warm: str, requests: str) -> None:
    """Do the case."""
    drive = wl.Drive(device=device, scheme=Plain, initial=initial)
    if int(warm):
        drive.play(workload, requests=int(warm), keep=True)
    report = drive.play(workload, requests=int(requests), seed=2)
    waf = report.waf.total if report.to_dict()["waf"] else 0
    print(report.speed.wall_s, waf)


if __name__ == "__main__":
    main(*sys.argv[1:])
