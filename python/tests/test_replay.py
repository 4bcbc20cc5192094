"""The checker takes what really happened, and finds each thing that never may."""

import gzip
import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest
from second.config import Config
from second.drives import device_file

import wordline as wl
import wordline_replay as replay
from wordline_replay import log as logs
from wordline_replay.drive import PAGES

#: The drives of these tests are quick, not plausible.
pytestmark = pytest.mark.filterwarnings("ignore::wordline.implausible.Implausible")

US = 1000

# Every registered scheme must have a way to run on a drive this small.
SMALL = Config(
    channels=2,
    dies=2,
    planes=2,
    blocks=16,
    wordlines=4,
    page=8192,
    unit=4096,
    bus=(1200, 1000),
    command={"read": 130, "program": 270, "erase": 310},
    slc={"read": [3 * US], "program": [20 * US], "erase": 50 * US},
    tlc={
        "read": [5 * US, 7 * US, 9 * US],
        "program": [40 * US, 80 * US, 120 * US],
        "erase": 60 * US,
    },
    logical_pages=8 * 7 * 12 * 2,
    scheme="slc-cache",
)
ONE_SHOT = "medium.flash.tlc.one_shot"
# Schemes that program page by page.
BY_PAGE = ("conventional-tlc", "pa-ssd", "hyssd", "ips", "ips-agc", "ips-cooperative")
# Schemes that turn QLC blocks to other modes; the drive then has such blocks, and fewer of them.
OF_FOUR_BITS = ("raro", "hotness")
QLC = {
    "medium.flash.qlc.read": "7us",
    "medium.flash.qlc.program": "50us",
    "medium.flash.qlc.erase": "70us",
    "medium.flash.blocks_per_plane": "10",
}
# Schemes that pack parts of pages, and want pages of one unit.
PACKING = ("sa", "sector", "hierarchy")
WHOLE = {"mapping.unit": "8KiB", "mapping.sector": "2KiB"}
# Schemes of two media, which the drive above lacks.
TWO_MEDIA = ("hyssd",)
PAIR = Path(__file__).parents[2] / "crates/run/tests/golden/two-media.toml"


WORKLOAD = "uniform:read=30%,bs=1KiB@20/4KiB@40/16KiB@40,qd=8,requests={}"
#: Of a log in which something is changed, which needs a row of each kind, and collection.
FEW = 400


def recorded(folder, scheme, name="log.csv", begin=None, requests=750, **changes):
    """A log with its report, of a run that overwrites the drive some times."""
    device = folder / "small.toml"
    device.write_text(PAIR.read_text() if scheme in TWO_MEDIA else device_file(SMALL))
    if scheme in TWO_MEDIA:
        changes = {key.replace("medium.flash", "medium.tlc"): v for key, v in changes.items()}
        if changes:  # copy-back does not support one-shot programs
            device.write_text(device.read_text().replace('copy_back = "650us"\n', ""))
    log = folder / name
    begin = begin or {"initial": "fill:80%"}
    changes = (
        (QLC if scheme in OF_FOUR_BITS else {}) | (WHOLE if scheme in PACKING else {}) | changes
    )
    workload = WORKLOAD.format(requests)
    same = {"device": device, "scheme": scheme, "workload": workload, "set": changes}
    report = wl.run(**same, **begin, check=True, log=log)
    return log, report


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The lines of a log under slc-cache, and its report."""
    log, report = recorded(tmp_path_factory.mktemp("real"), "slc-cache", requests=FEW)
    return log.read_text().splitlines(keepends=True), report.to_dict()


def found(lines, report=None):
    return [what for _, what in replay.check(iter(lines), report).violations]


def columns(line):
    return dict(zip(replay.COLUMNS, line.rstrip("\n").split(","), strict=True))


def written(row):
    return ",".join(str(row[c]) for c in replay.COLUMNS) + "\n"


def changed(lines, at, **columns_to):
    row = columns(lines[at])
    row.update(columns_to)
    return [*lines[:at], written(row), *lines[at + 1 :]]


def first(lines, after=1, **wanted):
    """The first row, behind another, that has these columns."""
    for at in range(after + 1, len(lines)):
        row = columns(lines[at])
        if all(row[k] == str(v) for k, v in wanted.items()):
            return at
    raise AssertionError(f"the log has no row with {wanted}")


@pytest.mark.parametrize("scheme", [s.name for s in wl.schemes()])
@pytest.mark.parametrize("program", ["page by page", "one shot"])
def test_a_real_log_of_every_scheme_has_no_violation(scheme, program, tmp_path):
    changes = {}
    if program == "one shot":
        changes = {ONE_SHOT: "true", "medium.flash.tlc.program": "90us"}
        if scheme in BY_PAGE:
            with pytest.raises(wl.Refused, match=r"in one operation|one-shot programs"):
                recorded(tmp_path, scheme, **changes)
            return
    log, report = recorded(tmp_path, scheme, **changes)
    lines = log.read_text().splitlines(keepends=True)
    checker = replay.check(iter(lines), report.to_dict())
    assert checker.violations == []
    assert sum(report.flash.erases.values()) > 0, "the run never collected, so little was checked"


@pytest.mark.parametrize("scheme", [s.name for s in wl.schemes()])
def test_log_from_saved_state_is_valid(scheme, tmp_path):
    """Its header must tell what the drive held, in open blocks and in those of a cache too."""
    one_shot = {ONE_SHOT: "true", "medium.flash.tlc.program": "90us"}
    one_shot = {} if scheme in BY_PAGE else one_shot
    state = tmp_path / "aged.state"
    recorded(tmp_path, scheme, begin={"initial": "fill:80%", "save_state": state}, **one_shot)
    log, report = recorded(tmp_path, scheme, begin={"from_state": state}, **one_shot)
    lines = log.read_text().splitlines(keepends=True)
    checker = replay.check(iter(lines), report.to_dict())
    assert checker.violations == []
    assert checker.slots_before > 0
    assert sum(report.flash.erases.values()) > 0
    # A drive taken for empty is found out at the first read, or the first erase.
    checker = replay.Checker(json.loads(lines[0].removeprefix("#")) | {"programmed": []})
    rows = enumerate(lines[2:], 3)
    assert any(checker.violations for row in rows if checker.row(*row) is None)


@pytest.mark.parametrize("scheme", ["conventional", "slc-cache", "hotness", "ips"])
@pytest.mark.parametrize("cache", ["read", "program", "on"])
def test_log_with_cache_register_is_valid(scheme, cache, tmp_path):
    log, report = recorded(tmp_path, scheme, **{"medium.flash.cache_register": cache})
    lines = log.read_text().splitlines(keepends=True)
    assert replay.check(iter(lines), report.to_dict()).violations == []
    if (scheme, cache) == ("ips", "program"):
        return  # where windows are reprogrammed nothing is brought in ahead
    header = json.loads(lines[0].removeprefix("#"))
    for medium in header["media"]:
        medium["cache_register"] = "off"
    says = found([f"# {json.dumps(header)}\n", *lines[1:]])
    assert any(v.startswith("plane register:") for v in says)


def test_copies_within_a_plane_take_their_own_time(tmp_path):
    copies = {"medium.flash.slc.copy_back": "15us", "medium.flash.tlc.copy_back": "70us"}
    log, report = recorded(tmp_path, "hot-cold", **copies)
    lines = log.read_text().splitlines(keepends=True)
    rows = [columns(line) for line in lines[2:]]
    copied = {r["cause"] for r in rows if r["kind"] == "program" and r["bytes"] == "0"}
    assert copied == {"gc"}
    assert replay.check(iter(lines), report.to_dict()).violations == []


@pytest.mark.parametrize("program", ["page by page", "one shot"])
def test_parity_of_superpages_is_counted_as_its_own_cause(program, tmp_path):
    parity = {"parallel.superblock": "drive", "parallel.parity": "superpage"}
    if program == "one shot":
        parity |= {"medium.flash.tlc.one_shot": "true", "medium.flash.tlc.program": "700us"}
    log, report = recorded(tmp_path, "conventional", **parity)
    lines = log.read_text().splitlines(keepends=True)
    assert report.to_dict()["flash"]["programs"]["parity"]["program"] > 0
    assert found(lines, report.to_dict()) == []
    ops = [columns(line)["op"] for line in lines[2:] if columns(line)["cause"] == "parity"]
    for i in range(2, len(lines)):
        if columns(lines[i])["op"] == ops[0]:
            lines = changed(lines, i, cause="pad")
    assert any("cause parity" in v for v in found(lines, report.to_dict()))


def by_page(scheme, tmp_path):
    log, _ = recorded(tmp_path, scheme, requests=FEW)
    return log.read_text().splitlines(keepends=True)


def with_page(lines, at, slot):
    """The log with the operation of a line on another slot."""
    row = columns(lines[at])
    page = PAGES[slot // 2 % 3]
    for i in [i for i in range(at, len(lines)) if columns(lines[i])["op"] == row["op"]]:
        lines = changed(lines, i, slot=slot, page=page)
    return lines


def test_a_page_off_the_diagonals_is_found(tmp_path):
    lines = by_page("conventional-tlc", tmp_path)
    at = first(lines, kind="program", use="bus", slot=0)
    says = found(with_page(lines, at, 2))
    assert any(
        "CSB page of wordline 0" in v and "expected the LSB page of wordline 0" in v for v in says
    )


def test_a_page_before_those_around_it_is_found(tmp_path):
    lines = by_page("pa-ssd:US", tmp_path)
    at = first(lines, kind="program", use="bus", slot=0)
    says = found(with_page(lines, at, 4))
    assert any("MSB page of wordline 0" in v and "CSB page of wordline 1" in v for v in says)


def test_missing_reread_is_found(tmp_path):
    lines = by_page("pa-ssd:US", tmp_path)
    header = json.loads(lines[0].removeprefix("#"))
    assert header["regions"][0]["rereads_earlier_bits"]
    header["regions"][0]["rereads_earlier_bits"] = False
    assert any(v.startswith("time:") for v in found([f"# {json.dumps(header)}\n", *lines[1:]]))


def windowed(tmp_path):
    """The lines of a log of windows of two wordlines: slots 0 to 11 of a block, then 12 to 23."""
    return by_page("ips:window=2", tmp_path)


def test_a_program_above_the_current_window_is_found(tmp_path):
    lines = windowed(tmp_path)
    assert found(lines) == []
    at = first(lines, kind="program", use="bus", slot=0, mode="slc")
    says = found(with_page(lines, at, 12))
    assert any(v.startswith("window:") and "wordline 0 lacks bits" in v for v in says)


def test_early_reprogram_is_found(tmp_path):
    lines = windowed(tmp_path)
    at = first(lines, kind="program", use="bus", slot=6, mode="slc")  # the second wordline
    lines = with_page(lines, at, 2)
    assert any(v.endswith("slot 2 is the csb of a wordline in slc mode") for v in found(lines))
    for i in [
        i for i in range(at, len(lines)) if columns(lines[i])["op"] == columns(lines[at])["op"]
    ]:
        lines = changed(lines, i, mode="tlc")
    wanted = "program order: the CSB page of wordline 0"
    assert any(v.startswith(wanted) for v in found(lines))


def test_a_bit_that_is_added_twice_is_found(tmp_path):
    lines = windowed(tmp_path)
    at = first(lines, kind="program", use="bus", slot=4)
    says = found(with_page(lines, at, 2))
    assert any(v.startswith("programmed twice: the CSB page of wordline 0") for v in says)


def test_read_in_wrong_mode_is_found(tmp_path):
    lines = windowed(tmp_path)
    at = first(lines, kind="read", use="array", mode="slc")
    for i in [
        i for i in range(at, len(lines)) if columns(lines[i])["op"] == columns(lines[at])["op"]
    ]:
        lines = changed(lines, i, mode="tlc")
    says = found(lines)
    assert any(v.startswith("place: slot") and v.endswith("expected slc") for v in says)
    assert any(v.startswith("time:") for v in says)


def test_reprogram_without_read_is_found(tmp_path):
    lines = by_page("ips:window=2,reprogram_read=3us", tmp_path)
    header = json.loads(lines[0].removeprefix("#"))
    assert header["regions"][0]["reread_ns"] == 3 * US
    header["regions"][0]["reread_ns"] = 0
    assert any(v.startswith("time:") for v in found([f"# {json.dumps(header)}\n", *lines[1:]]))


def test_windows_that_flash_would_not_bear_are_refused(tmp_path):
    lines = windowed(tmp_path)
    header = json.loads(lines[0].removeprefix("#"))
    header["regions"][0]["window"] = {"wordlines": 3, "layers": 3}
    with pytest.raises(replay.Unreadable, match="has windows that flash does not support"):
        found([f"# {json.dumps(header)}\n", *lines[1:]])


def test_independent_planes_are_distinguished(tmp_path):
    log, report = recorded(tmp_path, "conventional", **{"parallel.unit": "plane"})
    lines = log.read_text().splitlines(keepends=True)
    assert found(lines, report.to_dict()) == []
    header = json.loads(lines[0].removeprefix("#"))
    header["parallel_unit"] = "die"
    assert any("array of die" in v for v in found([f"# {json.dumps(header)}\n", *lines[1:]]))


def test_multiplane_operations_are_equal(tmp_path):
    changes = {"parallel.multiplane": "opportunistic"}
    log, report = recorded(tmp_path, "slc-cache", **changes)
    lines = log.read_text().splitlines(keepends=True)
    assert found(lines, report.to_dict()) == []
    assert sum(report.to_dict()["flash"]["multiplane"]["operations"].values()) > 0
    header = json.loads(lines[0].removeprefix("#"))
    header["multiplane"] = "off"
    assert any("array of die" in v for v in found([f"# {json.dumps(header)}\n", *lines[1:]]))
    header["multiplane"], header["multiplane_pages"] = "opportunistic", "same"
    assert any("array of die" in v for v in found([f"# {json.dumps(header)}\n", *lines[1:]]))
    arrays = [i for i in range(2, len(lines)) if columns(lines[i])["use"] == "array"]
    spans = [tuple(columns(lines[i])[c] for c in ("die", "start_ns", "end_ns")) for i in arrays]
    at = next(i for i, (a, b) in enumerate(itertools.pairwise(spans)) if a == b)
    end = int(spans[at][2])
    later = found(changed(lines, arrays[at + 1], end_ns=end + 1))
    assert any("array of die" in v for v in later)
    both = changed(changed(lines, arrays[at], end_ns=end + 1), arrays[at + 1], end_ns=end + 1)
    assert any(v.startswith("time: the array of die") for v in found(both))


def test_a_page_programmed_out_of_order_is_found(real):
    lines, _ = real
    at = first(lines, kind="program", use="bus", slot=2)
    row = columns(lines[at])
    other = [i for i in range(at, len(lines)) if columns(lines[i])["op"] == row["op"]]
    for i in other:
        lines = changed(lines, i, slot=4, data=row["data"].replace("2:", "4:").replace("3:", "5:"))
    says = found(lines)
    assert any(v.startswith("program order: slot 4") and "expected slot 2 next" in v for v in says)


def test_second_program_of_page_is_found(real):
    lines, _ = real
    erase = first(lines, kind="erase")
    block = columns(lines[erase])["block"]
    first(lines, after=erase, kind="program", block=block, slot=0)  # the block is used again
    says = found([*lines[:erase], *lines[erase + 1 :]])
    assert any(v.startswith(f"programmed twice: slot 0 of block {block}") for v in says)
    assert any("expected" in v and "or an erase" in v for v in says)


def test_a_read_of_a_page_not_yet_programmed_is_found(real):
    lines, _ = real
    program = first(lines, kind="program", use="bus", slot=6, mode="slc")
    block = columns(lines[program])["block"]
    # The same block has room for eight slots in SLC mode; a read comes before the seventh is there.
    read = columns(lines[first(lines, kind="read", use="array")])
    read.update(columns(lines[program]))
    read.update(
        op=10**9, use="array", kind="read", cause="host", slots=1, bytes=4096, data="6:1:4:host"
    )
    start = int(read["start_ns"])
    lines = [*lines[:program], written(read | {"end_ns": start + 3130}), *lines[program:]]
    says = found(lines)
    assert any(v.startswith(f"read before program: slot 6 of block {block} is read") for v in says)


def test_a_read_of_a_page_after_its_erase_is_found(real):
    lines, _ = real
    erase = first(lines, kind="erase", mode="tlc")
    row = columns(lines[erase])
    end = int(row["end_ns"])
    read = row | {"op": 10**9, "kind": "read", "cause": "host", "start_ns": end, "page": "lsb"}
    read |= {"end_ns": end + 5130, "slots": 1, "bytes": 4096, "data": "0:1:4:host"}
    at = next(i for i in range(erase, len(lines)) if int(columns(lines[i])["start_ns"]) >= end)
    says = found([*lines[:at], written(read), *lines[at:]])
    wanted = f"read before program: slot 0 of block {row['block']}"
    assert any(v.startswith(wanted) and f"since its erase in line {erase + 1}" in v for v in says)


def test_read_of_wrong_page_is_found(real):
    lines, _ = real
    # Blocks that were used before time 0 hold what the log does not tell.
    used = set()
    for at in range(2, len(lines)):
        row = columns(lines[at])
        if row["kind"] == "program":
            used.add((row["block"], int(row["slot"])))
        slot = int(row["slot"])
        known = (row["block"], slot // 2 * 2) in used and " " not in row["data"]
        if row["kind"] == "read" and row["cause"] == "host" and known:
            break
    for i in [i for i in range(at, len(lines)) if columns(lines[i])["op"] == row["op"]]:
        lines = changed(lines, i, data=f"{slot}:99999999:4:host")
    says = found(lines)
    assert len(says) == 1
    assert says[0].startswith(f"content: logical page 99999999 is read from slot {slot}")


def test_an_erase_of_an_erased_block_is_found(real):
    lines, _ = real
    at = first(lines, kind="erase")
    assert any(v.startswith("erase: block") for v in found([*lines[: at + 1], *lines[at:]]))


@pytest.mark.parametrize(("use", "rule"), [("bus", "bus: "), ("array", "array: ")])
def test_a_bus_or_an_array_used_twice_at_once_is_found(real, use, rule):
    lines, _ = real
    key = "channel" if use == "bus" else "die"
    latest = {}
    for at in range(2, len(lines)):
        row = columns(lines[at])
        if row["use"] != use:
            continue
        before = latest.get(row[key])
        # Another plane's use ended when this began: a nanosecond more and they overlap.
        if before and before["end_ns"] == row["start_ns"] and before["plane"] != row["plane"]:
            break
        latest[row[key]] = row
    start, end = int(row["start_ns"]) - 1, int(row["end_ns"]) - 1
    says = found(changed(lines, at, start_ns=start, end_ns=end))
    what = f"operation {row['op']} uses the {use} of {key} {row[key]} from {start} ns"
    assert any(v.startswith(rule + what) and f"until {start + 1} ns" in v for v in says)


def test_a_plane_register_with_two_operations_is_found(real):
    lines, _ = real
    at = first(lines, kind="read", use="array")
    row = columns(lines[at])
    second = row | {"op": 10**9, "start_ns": row["end_ns"]}
    second["end_ns"] = int(row["end_ns"]) + int(row["end_ns"]) - int(row["start_ns"])
    # The first still has to bring its data out.
    says = found([*lines[: at + 1], written(second), *lines[at + 1 :]])
    assert any(v.startswith(f"plane register: operation {10**9} begins in plane") for v in says)
    assert any(f"operation {row['op']} still lacks its bus use" in v for v in says)


@pytest.mark.parametrize(("kind", "use"), [(k, u) for k, uses in replay.USES.items() for u in uses])
def test_a_duration_other_than_the_headers_is_found(real, kind, use):
    lines, _ = real
    if use not in replay.USES[kind]:
        pytest.skip("an erase moves no data")
    at = first(lines, kind=kind, use=use)
    row = columns(lines[at])
    took = int(row["end_ns"]) - int(row["start_ns"])
    says = found(changed(lines, at, end_ns=int(row["end_ns"]) - 1))
    wanted = f"time: the {use} use of {kind} {row['op']} takes {took - 1} ns; expected {took} ns"
    assert wanted in says


def test_an_operation_that_never_ends_is_found(real):
    lines, _ = real
    at = first(lines, kind="program", use="array")
    op = columns(lines[at])["op"]
    says = found([*lines[:at], *lines[at + 1 :]])
    assert any(f"operation {op} still lacks its array use" in v for v in says)


def test_a_block_said_to_lie_elsewhere_is_found(real):
    lines, _ = real
    at = first(lines, kind="erase")
    row = columns(lines[at])
    plane = (int(row["plane"]) + 2) % 8
    says = found(changed(lines, at, plane=plane))
    assert says[0].startswith(f"place: block {row['block']} is said to lie in")


def test_counts_that_differ_from_the_reports_are_found(real):
    lines, report = real

    checker = replay.check(iter(lines))
    assert checker.violations == []

    def doctored(change):
        copy = json.loads(json.dumps(report))
        change(copy)
        checker.violations.clear()
        checker.compare(copy)
        return [what for _, what in checker.violations]

    def total(report):
        return report["after_last_request"]["flash_total"]

    assert doctored(lambda r: None) == []
    flash = total(report)
    reads, migrated = flash["reads"]["host"], flash["program_bytes"]["migration"]["program"]["D"]
    assert doctored(lambda r: total(r)["reads"].update(host=reads + 1)) == [
        f"report: {reads + 1} reads of cause host; expected {reads} as in the log"
    ]
    by_region = lambda r: total(r)["program_bytes"]["migration"]["program"]  # noqa: E731
    assert doctored(lambda r: by_region(r).update(D=migrated + 1024)) == [
        f"report: {migrated + 1024} bytes programmed of cause migration in region D; "
        f"expected {migrated} as in the log"
    ]
    pad = flash["programs"]["pad"]["program"]
    assert doctored(lambda r: total(r)["programs"]["pad"].update(program=pad + 1)) == [
        f"report: {pad + 1} pages programmed of cause pad; expected {pad} as in the log"
    ]
    erases = flash["erases"]["slc"]
    assert doctored(lambda r: total(r)["erases"].update(slc=0)) == [
        f"report: 0 erases in slc mode; expected {erases} as in the log"
    ]
    assert doctored(lambda r: r.update(seed=99)) == [
        "report: it is of seed 99; expected 1, that of the log"
    ]


def test_excess_programs_are_found(real):
    lines, _ = real
    says = found([line for line in lines if ",erase," not in line])
    assert any(v.startswith("count: ") and "0 of them erased" in v for v in says)


def test_the_command_says_where_and_exits_with_1(wordline, real, tmp_path):
    lines, report = real
    (tmp_path / "good.csv").write_text("".join(lines))
    (tmp_path / "report.json").write_text(json.dumps(report))
    done = wordline("check-log", "good.csv", "--report", "report.json")
    assert (done.code, done.err) == (0, "")
    assert "no violation; the report's counts agree" in done.out
    at = first(lines, kind="erase")
    bad = changed(lines, at, end_ns=int(columns(lines[at])["end_ns"]) + 5)
    (tmp_path / "bad.csv").write_text("".join(bad))
    done = wordline("check-log", "bad.csv")
    assert done.code == 1
    assert f"bad.csv:{at + 1}: time: the array use of erase" in done.out
    module = [sys.executable, "-m", "wordline.replay", str(tmp_path / "bad.csv")]
    assert subprocess.run(module, capture_output=True, text=True).returncode == 1


def test_what_is_no_log_ends_with_2(wordline, tmp_path):
    (tmp_path / "text.csv").write_text("op,use\n1,2\n")
    for name, says in (("text.csv", "header of an operation log"), ("none.csv", "cannot be read")):
        done = wordline("check-log", name)
        assert done.code == 2
        assert says in done.err
        assert done.err.count(f"{name}: ") == 1


@pytest.mark.parametrize("packed", [gzip.compress, logs.zstd.compress], ids=["gz", "zst"])
def test_a_damaged_log_ends_with_2(wordline, real, tmp_path, packed):
    lines, _ = real
    whole = packed("".join(lines).encode())
    middle = len(whole) // 2
    damaged = {"cut": whole[:middle], "bent": whole[:middle] + b"\xff" * 64 + whole[middle + 64 :]}
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(content)
        done = wordline("check-log", name)
        assert done.code == 2, done.out
        assert done.err.startswith(f"error: {name}: ")
        assert "Traceback" not in done.err


@pytest.mark.parametrize("name", ["log.csv.gz", "log.csv.zst"])
def test_a_compressed_log_holds_the_same_rows(real, name, tmp_path):
    lines, _ = real
    log, _ = recorded(tmp_path, "slc-cache", name, requests=FEW)
    if name.endswith(".gz"):
        text = gzip.decompress(log.read_bytes()).decode()
        with logs.opened(str(log)) as file:
            assert file.read() == text
    else:
        with logs.zstd.open(log, "rt") as file:
            text = file.read()
    assert text == "".join(lines)


def test_log_does_not_change_result(tmp_path, real):
    _, report = real
    device = tmp_path / "small.toml"
    device.write_text(device_file(SMALL))
    again = wl.run(
        device=device,
        scheme="slc-cache",
        workload=WORKLOAD.format(FEW),
        initial="fill:80%",
    )
    assert again.result_hash == report["result_hash"]


def test_completions_have_a_row_for_every_request(wordline, small, tmp_path):
    done = wordline(
        "run", *small, "--scheme", "slc-cache", "--completions", "done.csv", "--json", "-"
    )
    assert done.code == 0, done.err
    rows = (tmp_path / "done.csv").read_text().splitlines()
    assert rows[1] == (
        "number,op,lba,blocks,arrival_ns,completion_ns,outcome,admission_ns,map_miss_ns,staging_ns,"
        "behind_host_ns,behind_gc_ns,behind_migration_ns,space_ns,die_ns,retry_ns,bus_ns,link_ns"
    )
    cells = [row.split(",") for row in rows[2:]]
    assert sorted(int(c[0]) for c in cells) == list(range(2000))
    assert all(c[6] == "done" for c in cells)
    assert all(sum(map(int, c[7:])) == int(c[5]) - int(c[4]) for c in cells)
    writes = [int(c[5]) - int(c[4]) for c in cells if c[1] == "write"]
    mean = sum(writes) / len(writes) / 1000
    assert mean == pytest.approx(done.json["latency_us"]["write"]["mean"], rel=1e-9)


def test_unwritable_log_fails_before_run(wordline, small):
    done = wordline("run", *small, "--scheme", "conventional", "--log", "no/such/folder.csv")
    assert done.code == 2
    assert "no/such/folder.csv: cannot be written" in done.err


def test_full_disk_ends_run(wordline, small):
    done = wordline("run", *small, "--scheme", "conventional", "--log", "/dev/full")
    assert done.code == 1
    assert "/dev/full: cannot be written" in done.err
    with pytest.raises(OSError, match="/dev/full"):
        wl.run(
            device="demo-8gb",
            workload="bursty",
            requests=100,
            scheme="conventional",
            completions="/dev/full",
        )
