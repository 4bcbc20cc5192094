"""Small random drives and workloads, as the engine takes them and as the second simulator does."""

from __future__ import annotations

import csv
import random
from pathlib import Path

from second.config import Config, share_up
from second.records import Request

US = 1000


def random_case(seed: int) -> tuple[Config, str]:
    """A drive, and the kind of workload: ``trace``, ``flushes`` (a trace too) or ``trims``."""
    r = random.Random(seed)
    units_per_page = r.choice([1, 1, 1, 2, 4])
    sectors = r.choice([1, 2, 4])
    c = Config(
        channels=r.choice([1, 1, 2]),
        chips=r.choice([1, 1, 2]),
        dies=r.choice([1, 1, 2]),
        planes=r.choice([1, 1, 2, 3]),
        blocks=r.randint(10, 14),
        wordlines=r.randint(2, 4),
        unit=sectors * 1024,
        sector=1024,
        parallel=r.choice(["die", "plane"]),
        order=r.choice(["CWDP", "PDWC", "DPCW", "dynamic", "round-robin"]),
        trigger=r.choice(
            [
                ("free_blocks", 300_000_000),
                ("free_slots", 350_000_000),
                ("free_blocks", 100_000_000),
            ]
        ),
        victim=r.choice(["greedy", "fifo"]),
        gc_class=r.choice(["background", "host", "urgent"]),
        hard_reserve=r.choice([1, 2]),
        ack_buffer=r.choice([None, None, None, 3]),
        pad_after=r.choice([500 * US, 50 * US, None]),
        queue_depth=r.choice([1, 2, 4, 16]),
        closed=r.random() < 0.4,
        scheme=r.choice(["conventional", "conventional", "slc-cache"]),
        one_shot=r.random() < 0.5,
        when_full=r.choice(["direct", "wait"]),
        cache=r.choice([(3, 0), (4, 0), (2, 2)]),
    )
    c.multiplane = c.parallel == "die" and r.random() < 0.5
    # Drawn aside, so that a seed means the same case but for this.
    aside = random.Random(seed * 31 + 7)
    c.same_pages = c.multiplane and aside.random() < 0.5
    if aside.random() < 0.4:
        program, erase = aside.choice([(3, None), (None, 7), (2, 5), (13, 20)])
        c.suspend = {
            "program": None if program is None else program * US,
            "erase": None if erase is None else erase * US,
            "resume": aside.choice([0, 1 * US, 2_501]),
            "limit": aside.choice([1, 2, 8]),
        }
        if random.Random(seed * 37 + 11).random() < 0.5:
            least = {"program": 150 * US, "erase": 700_001}
            given = [kind for kind in least if c.suspend[kind] is not None]
            c.suspend |= {f"{kind}_min_left": least[kind] for kind in given}
    if c.multiplane and aside.random() < 0.5:
        c.further = aside.choice(
            [
                {"read": 650, "program": 816, "erase": 700},
                {"read": 1 * US, "program": 0, "erase": 5 * US},
            ]
        )
    c.packing = units_per_page > 1 and aside.random() < 0.6
    if aside.random() < 0.4:
        times = [(900, 4_100), (5 * US, 2 * US), (3 * US, 3 * US), (0, 8 * US)]
        c.read_latency, c.write_latency = aside.choice(times)
    if c.scheme == "slc-cache":
        _with_a_resting_cache(c, random.Random(seed * 31 + 11))
    _with_paced_writes(c, random.Random(seed * 31 + 13))
    is_plain = c.scheme == "conventional"
    c.copies_apart = is_plain and random.Random(seed * 31 + 17).random() < 0.3
    c.page = c.unit * units_per_page
    # Round times make many things happen in one nanosecond, uneven ones make them interleave.
    if r.random() < 0.5:
        c.bus = r.choice([(1024, 1000), (1024, 5000), (0, 0)])
        c.slc = {"read": [5 * US], "program": [20 * US], "erase": 50 * US}
        reads, programs = [5 * US, 10 * US, 15 * US], [40 * US, 80 * US, 120 * US]
        c.tlc = {"read": reads, "program": programs, "erase": 60 * US}
    else:
        c.bus = r.choice([(1200, 1000), (3, 7)])
        c.command = {"read": 130, "program": 270, "erase": 310}
        c.slc = {"read": [3_011], "program": [20_503], "erase": 50_021}
        reads, programs = [5_003, 7_019, 9_041], [40_009, 80_021, 120_047]
        c.tlc = {"read": reads, "program": programs, "erase": 60_013}
        if r.random() < 0.5:
            c.host_rate = r.choice([(1_000, 900), (0, 0)])
            c.read_overhead, c.write_overhead = 1_300, 2_100
    if c.one_shot:
        c.tlc["program"] = [90 * US] * 3
    if c.scheme == "conventional" and r.random() < 0.3:
        c.tlc, c.one_shot = None, False
    planes = c.channels * c.chips * c.dies * c.planes
    bits = 3 if c.tlc else 1
    spare = r.randint(4, 5) + (sum(c.cache) if c.scheme == "slc-cache" else c.copies_apart)
    rest = max(c.blocks - spare, 1)
    c.logical_pages = planes * rest * c.wordlines * bits * units_per_page
    c.fill = r.choice([0, 500_000_000, 900_000_000, 1_000_000_000])
    kind = r.choice(["trace", "trace", "flushes", "trims"])
    if seed % 5 == 0:  # more promised than can be held
        dense = c.blocks - (c.cache[0] if c.scheme == "slc-cache" else 0)
        c.logical_pages = c.logical_pages // rest * dense * 9 // 10
        c.fill = 0
    elif c.fill == 500_000_000 and r.random() < 0.5:
        c.valid = 700_000_000
    if r.random() < 0.4:
        _with_errors(c, r)
    return c, kind


def _with_a_resting_cache(c: Config, r: random.Random) -> None:
    """A cache that idle time empties, or that takes free blocks."""
    if r.random() < 0.6:
        c.idle_after = r.choice([1 * US, 30 * US, 200 * US, 2_000 * US])
        c.idle_rate = r.choice([(0, 0), (1, 1), (20, 1_000), (7, 100)])
    if c.cache[1] > 0 and r.random() < 0.5:
        c.cache_reserve = r.choice([0, 150_000_000, 400_000_000])


def _with_paced_writes(c: Config, r: random.Random) -> None:
    """Writes that slow down while GC works, before it becomes urgent."""
    most = share_up(c.trigger[1], c.blocks)
    if most > c.hard_reserve and r.random() < 0.4:
        c.pace_below = r.randint(c.hard_reserve + 1, most)


def _with_errors(c: Config, r: random.Random) -> None:
    """Coefficients under which pages take from no retry to more than there are, and why."""

    def mode(bits: int) -> dict:
        return {
            "epsilon": r.choice([0.003, 0.008, 0.012]),
            "alpha": r.choice([1e-8, 5e-5]),
            "k": r.choice([1.0, 2.05]),
            "beta": r.choice([0.0, 6.28e-5]),
            "m": 0.14,
            "n": r.choice([0.54, 1.0]),
            "gamma": r.choice([0.0, 1e-4, 2e-3]),
            "p": 0.33,
            "q": r.choice([0.5, 1.71]),
            "senses": [r.randint(1, 4) for _ in range(bits)],
            "sigma_block": r.choice([0.0, 0.02, 0.3]),
            "sigma_page": r.choice([0.0, 0.03, 0.2]),
            "most_retries": r.choice([0, 1, 5, 31]),
            "beyond": r.choice(["clamp", "uncorrectable"]),
        }

    c.errors = {
        "model": "raro",
        "t_unit": r.choice([1, 24]) * 3_600_000_000_000,
        "delta": r.choice([0.1, 0.2, 0.05]),
        "correctable": r.choice([72, 40]),
        "codeword": 1024,
        "decode": r.choice([0, 700, 12_345]),
        "retransfer": r.random() < 0.4,
        "slc": mode(1),
        "tlc": mode(3),
    }
    c.cycles = r.choice([{}, {"tlc": 500}, {"slc": 90, "tlc": 40}])
    c.retention = r.choice([0, 0, 30 * 86_400_000_000_000]) if c.fill else 0


def initial(c: Config) -> str:
    """The state before the first request, in words."""
    parts = []
    if c.fill:
        parts.append(f"fill:{c.fill / 10_000_000:g}%,order=seq,valid={c.valid / 10_000_000:g}%")
    if c.cycles:
        parts.append("pe:" + ",".join(f"{mode}={n}" for mode, n in c.cycles.items()))
    if c.retention:
        parts.append(f"retention:{c.retention}ns")
    return "+".join(parts) or "fresh"


def device_file(c: Config) -> str:
    """The device as a TOML file."""

    def times(of: list[int]) -> str:
        return "[" + ", ".join(f'"{t}ns"' for t in of) + "]" if len(set(of)) > 1 else f'"{of[0]}ns"'

    def rate(of: tuple[int, int]) -> str:
        return f'"{of[1]}ns/{of[0]}B"' if of[0] else '"off"'

    def threshold(of: tuple[str, int]) -> str:
        return f'"{of[0]} < {of[1] / 10_000_000:g}%"'

    def inline(of: dict) -> str:
        return ", ".join(f'{k} = "{v}ns"' for k, v in of.items())

    commands = (("command", c.command), ("command_further", c.further))
    pad = "never" if c.pad_after is None else f"{c.pad_after}ns"
    buffer = "protected" if c.pad_after is None else "volatile"
    lines = [
        '[device]\nname = "second"',
        "[medium.flash]",
        f"channels = {c.channels}\nchips_per_channel = {c.chips}\ndies_per_chip = {c.dies}",
        f"planes_per_die = {c.planes}\nblocks_per_plane = {c.blocks}",
        f'wordlines_per_block = {c.wordlines}\npage = "{c.page}B"',
        f"bus = {{ rate = {rate(c.bus)}, width = 1 }}",
        *(f"{key} = {{ {inline(of)} }}" for key, of in commands if of is not None),
    ]
    for name, of in (("slc", c.slc), ("tlc", c.tlc)):
        if of is None:
            continue
        lines.append(f"[medium.flash.{name}]")
        lines.append(f"read = {times(of['read'])}\nprogram = {times(of['program'])}")
        lines.append(f'erase = "{of["erase"]}ns"')
        if name == "tlc" and c.one_shot:
            lines.append("one_shot = true")
    lines += [
        f'[mapping]\nunit = "{c.unit}B"\nsector = "{c.sector}B"',
        *(['packing = "page"'] if c.packing else []),
        f'[capacity]\nlogical = "{c.logical_pages * c.unit}B"',
        f"[host]\nrate = {rate(c.host_rate)}\nqueue_depth = {c.queue_depth}",
        f'read_overhead = "{c.read_overhead}ns"\nwrite_overhead = "{c.write_overhead}ns"',
        f'read_latency = "{c.read_latency}ns"\nwrite_latency = "{c.write_latency}ns"',
        f'[parallel]\nunit = "{c.parallel}"',
        f'multiplane = "{"opportunistic" if c.multiplane else "off"}"',
        *([f'multiplane_pages = "{"same" if c.same_pages else "any"}"'] if c.multiplane else []),
        f'[allocation]\norder = "{c.order}"',
        f'[gc]\ntrigger = {threshold(c.trigger)}\nvictim = "{c.victim}"',
        f'class = "{c.gc_class}"\nhard_reserve = {c.hard_reserve}',
        *(['copies = "apart"'] if c.copies_apart else []),
        *([f"pace_below = {c.pace_below}"] if c.pace_below is not None else []),
        f'[program]\npad_after = "{pad}"\nbuffer = "{buffer}"',
    ]
    if c.suspend is not None:
        each = [
            f'{k} = "off"' if c.suspend[k] is None else f'{k} = "{c.suspend[k]}ns"'
            for k in ("program", "erase")
        ]
        each += [f'resume = "{c.suspend["resume"]}ns"', f"limit = {c.suspend['limit']}"]
        each += [f'{k} = "{t}ns"' for k, t in c.suspend.items() if k.endswith("_min_left")]
        lines.append(f"[service]\nsuspend = {{ {', '.join(each)} }}")
    if c.ack_buffer is not None:
        lines.append(f'[ack]\nmode = "buffer"\npages = {c.ack_buffer}')
    if c.scheme == "slc-cache":
        static, dynamic = c.cache
        lines.append(f"[slc_cache]\nstatic_blocks = {static}\ndynamic_blocks = {dynamic}")
        lines.append(f'trigger = {threshold(c.cache_trigger)}\nwhen_full = "{c.when_full}"')
        if c.cache_reserve is not None:
            lines.append(f'dynamic_reserve = "{c.cache_reserve / 10_000_000:g}%"')
        if c.idle_after is not None:
            lines.append(f'idle_after = "{c.idle_after}ns"\nidle_rate = {rate(c.idle_rate)}')
    if c.errors is not None:
        lines += _errors_of(c.errors)
    return "\n".join(lines) + "\n"


def _errors_of(errors: dict) -> list[str]:
    """The table [errors] of a device file."""
    modes = {k: v for k, v in errors.items() if isinstance(v, dict)}
    units = {"t_unit": "ns", "decode": "ns", "codeword": "B"}

    def line(key: str, value: object) -> str:
        if isinstance(value, bool):
            return f"{key} = {str(value).lower()}"
        if isinstance(value, str) or key in units:
            return f'{key} = "{value}{units.get(key, "")}"'
        return f"{key} = {value}"

    lines = ["[errors]", *(line(k, v) for k, v in errors.items() if k not in modes)]
    for mode, of in modes.items():
        lines += [f"[errors.{mode}]", *(line(k, v) for k, v in of.items())]
    return lines


def random_requests(c: Config, kind: str, seed: int, count: int) -> list[Request]:
    """Reads and writes that meet each other often; with ``flushes``, those too, in whole µs."""
    r = random.Random(seed * 7919 + 1)
    blocks = c.logical_pages * c.unit // 512
    writes = r.choice([0.3, 0.6, 0.9])
    hot = max(blocks // r.choice([1, 4, 40]), 1)
    pace = r.choice([2, 20, 100, 400]) * US
    now = 0
    requests = []
    for number in range(count):
        if r.random() < 0.7:
            now += r.randrange(pace // US + 1) * US if r.random() < 0.7 else r.randrange(pace)
        if kind == "flushes":
            now -= now % US
        length = min(r.choice([1, 2, 3, 8, 16, 30, r.randint(1, 80)]), blocks)
        lba = r.randrange(hot if r.random() < 0.7 else blocks)
        lba = min(lba - lba % r.choice([1, c.unit // 512]), blocks - length)
        op = "write" if r.random() < writes else "read"
        if kind == "flushes" and r.random() < 0.08:
            op, lba, length = "flush", 0, 0
        requests.append(Request(number, op, lba, length, now))
    if requests:  # a trace begins at time 0
        first = requests[0].arrival
        for request in requests:
            request.arrival -= first
    return requests


def trace_file(requests: list[Request], kind: str) -> str:
    """The requests in five columns, or as a vSCSI capture, which knows flushes."""
    if kind == "flushes":
        code = {"read": "28", "write": "2a", "flush": "35"}
        rows = [f"2,{q.arrival // US},{code[q.op]},{q.blocks * 512},{q.lba}" for q in requests]
        return "version,time,op,size,lbn\n" + "\n".join(rows) + "\n"
    return "".join(f"{q.arrival} 0 {q.lba} {q.blocks} {int(q.op == 'read')}\n" for q in requests)


def workload(c: Config, kind: str, path: Path, seed: int, count: int) -> str:
    """The workload's text on the command line."""
    if kind == "trims":
        r = random.Random(seed)
        pace = f"qd={c.queue_depth}" if c.closed else f"rate={r.choice([3_000, 20_000, 200_000])}"
        large = "16KiB@20" if c.logical_pages * c.unit >= 64 << 10 else "2KiB@20"
        sizes = f"512B@20/1KiB@30/4KiB@30/{large}"
        return f"uniform:read=30%,trim=15%,bs={sizes},{pace},requests={count}"
    closed = f",closed={c.queue_depth}" if c.closed else ""
    if kind == "flushes":
        return f"{path}:format=vscsi-csv,time=us{closed}"
    return f"{path}:format=five-columns,time=ns,unit=sector{closed}"


def completions(path: Path) -> list[dict]:
    """The rows of a file of completions, in the order of the requests."""
    with open(path) as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return sorted(rows, key=lambda row: int(row["number"]))
