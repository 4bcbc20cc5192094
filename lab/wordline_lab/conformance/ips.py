"""`ips`, as ``crates/schemes/src/ips.rs`` has it: In-place Switch.

X. Yang, J. Zheng, C. Gao, "In-place Switch: Reprogramming based SLC Cache Design for Hybrid 3D
SSDs", 2024, section IV-A. The SLC cache is a window of wordlines in every block. When it is full,
host writes add further bits to its cells, which turns them into TLC or QLC in place; the window
above is the new cache.
"""

from wordline import (
    DriveInfo,
    Layout,
    Param,
    Parcel,
    Place,
    Pool,
    Refused,
    Region,
    Scheme,
    View,
    to,
)

#: A new SLC page if there is one, else a further bit for a used one; collected data leave the SLC
#: pages to the host where they can.
HOST = to("W/slc", "W/reprogram", "W")
COLLECTED = to("W/reprogram", "W/slc", "W")


class IpsPy(Scheme):
    """SLC cache that host writes reprogram in place to TLC or QLC, in Python."""

    window = Param(0, "wordlines of a window; 0 for two a layer")
    layers = Param(0, "layers that a window spans; 0 for 2, or 1 under qlc or where it is odd")
    mode = Param("dense", "bits a cell comes to hold", ("dense", "mlc", "tlc", "qlc"))

    def layout(self, drive: DriveInfo) -> Layout:
        """Make one pool of all blocks, least worn first, with the region of windows."""
        if len(drive.modes) > 1:
            raise Refused("it supports a single medium, and this drive has several")
        mode = drive.dense if self.mode == "dense" else self.mode
        if "slc" not in drive.modes[0]:
            raise Refused("its windows start in SLC mode, which its flash does not support")
        medium = drive.spec["media"][0]
        timing = dict(zip(("slc", "mlc", "tlc", "qlc"), medium["modes"], strict=True))[mode]
        if mode == "slc" or timing["pages_per_program"] > 1:
            raise Refused(f"its {mode} leaves no choice of a page within a wordline")
        layers = self.layers or (1 if mode == "qlc" or self.window % 2 else 2)
        # Of a block that is lower than two layers all wordlines are taken.
        whole = min(medium["wordlines_per_block"], 255) // layers * layers
        region = Region(
            "W",
            mode,
            rule="reprogram-window",
            window=(self.window or min(whole, 2 * layers), layers),
            trigger=_in_slots(drive.spec["gc"]["trigger"]),
            reread_ns=0,  # section IV-B: the read is in the time of a reprogram
            partial_victims=True,
        )
        pool = Pool(drive.blocks_per_plane[0], least_erased_first=True)
        return Layout([region], [pool], "W")

    def place(self, p: Parcel, view: View) -> Place:
        """Give the host the next SLC pages, and GC the further bits."""
        return HOST if p.origin in ("host", "sealed") else COLLECTED


def _in_slots(trigger: dict[str, str] | str) -> str | None:
    """Return the device's trigger as one of slots: every block carries a window."""
    if isinstance(trigger, str):
        return None
    [share] = trigger.values()
    return f"free_slots < {share}"
