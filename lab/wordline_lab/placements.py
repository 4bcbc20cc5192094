"""Print the table of "Algorithms of others" in results/placements.md.

    python -m wordline_lab.placements

Some minutes. A first run fills and overwrites each drive; the second one is measured.
"""

import statistics

import wordline as wl
from wordline.examples.dac import Dac
from wordline.examples.sepbit import SepBit

DRIVE = {
    "medium.flash.channels": 1,
    "medium.flash.planes_per_die": 1,
    "medium.flash.blocks_per_plane": 448,
    "medium.flash.wordlines_per_block": 32,
    "capacity.logical": "571MiB",
    "gc.trigger": "free_blocks < 2%",
}
SCHEMES: list[str | type[wl.Scheme]] = ["conventional", SepBit, Dac]
LOADS: dict[str, str | None] = {
    f"zipf:theta={theta},bs=16KiB,qd=8": None for theta in (0, 0.8, 0.99, 1.2)
}
LOADS |= {f"twin:{name}:closed=8": "wrap" for name in ("prxy_0", "hm_0", "proj_0")}


def waf(scheme: str | type[wl.Scheme], workload: str, fit: str | None, seed: int) -> float:
    """Return the write amplification of a run on a drive that another has aged."""
    drive = wl.Drive(device="fair-tlc", scheme=scheme, set=DRIVE, initial="preload", seed=seed)
    first, second = (250_000, 200_000) if fit else (400_000, 300_000)
    drive.play(workload, requests=first, fit=fit, seed=seed, keep=True)
    return drive.play(workload, requests=second, fit=fit, seed=seed + 100).waf.total


def main() -> None:
    """Print a row for each load."""
    print("| load | one stream | SepBIT | DAC |\n|---|---:|---:|---:|")
    for workload, fit in LOADS.items():
        found = [
            statistics.mean(waf(scheme, workload, fit, seed) for seed in (1, 2, 3))
            for scheme in SCHEMES
        ]
        print(f"| `{workload}` | " + " | ".join(f"{x:.2f}" for x in found) + " |", flush=True)


if __name__ == "__main__":
    main()
