"""Crash states: the recipes of docs/crash, each run to what it is expected to come to."""

import ctypes
import json
import os
import re
import runpy
import shutil
import subprocess
import sys

import pytest

from helpers import ROOT

RECIPES = ROOT / "docs" / "crash"
#: The most states of what must not fail; `make soak` tries 10,000.
STATES = os.environ.get("WORDLINE_CRASH_STATES", "40")
FAULTS = ("missing-barrier", "torn-header", "reused-block", "unawaited-flush", "unchecked-checksum")


@pytest.fixture
def crash(binary, tmp_path):
    """Run `wordline crash` with a recipe as client and check."""

    def run(recipe: str, client: str, check: str, *more: str) -> dict:
        python = f"{sys.executable} -S -E {RECIPES / recipe}"
        command = [binary, "crash", "--run", f"{python} run {{uri}} {client}"]
        command += ["--check", f"{python} verify-each {{image}} {{acked}} {check}", "--persistent"]
        command += ["--json", "-", *more]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout) if done.stdout else {"error": done.stderr}
        return {**found, "code": done.returncode}

    return run


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_found_and_reduced(crash, fault):
    found = crash("store.py", fault, fault, "--states", "200")
    assert found["code"] == 1, found
    failing = found["failing"]
    assert failing["fails_again"]
    lost = failing["story"].count(": LOST")
    assert lost == (0 if fault == "reused-block" else 1), failing["story"]
    assert ("no request was lost: what the check misses" in failing["story"]) == (lost == 0)
    assert f"--state {failing['state']}" in failing["replay"]


def store(what: str, *words: str) -> str:
    """Return a command of the small store."""
    return " ".join([sys.executable, "-S", "-E", str(RECIPES / "store.py"), what, *words])


def is_one_lost_value(found: dict) -> bool:
    """Whether the smallest story is that of a value that was lost, and of all else that was not."""
    lost = [line for line in found["failing"]["story"].splitlines() if ": LOST" in line]
    return len(lost) == 1 and " 4,096 bytes at" in lost[0] and lost[0].endswith(": LOST")


@pytest.fixture
def states(binary, tmp_path):
    """Run `wordline crash` with any client and check."""

    def run(client: str, check: str, *more: str) -> dict:
        command = [binary, "crash", "--run", client, "--check", check, "--json", "-", *more]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout) if done.stdout else {}
        return {**found, "code": done.returncode, "error": done.stderr}

    return run


def test_correct_store_passes(states):
    most = str(max(200, int(STATES)))
    check = store("verify-each", "{image}", "{acked}")
    found = states(store("run", "{uri}"), check, "--persistent", "--states", most, "--drop-flushes")
    assert (found["code"], found["failing"]) == (0, None), found
    assert found["one_lost_complete"] + found["two_lost_complete"] == found["intervals"]
    assert found["interval_kinds"] < found["intervals"]
    assert sum(one["fails"] is not None for one in found["dropped"]) >= len(found["dropped"]) - 1


def test_states_equal_in_read_sectors_are_equal(states):
    check = store("verify", "{uri}", "{acked}")
    found = states(store("run", "{uri}"), check, "--states", STATES, "--sector", "512B")
    assert (found["code"], found["failing"]) == (0, None), found
    unread, anyway = found["equal_in_what_is_read"], found["equal_and_checked"]
    assert found["equal_states"] >= unread > 0
    assert anyway >= unread // 60, "one in fifty is checked anyway"
    # A check of the image itself may read anything.
    found = states(store("run", "{uri}"), check.replace("{uri}", "{image}"), "--states", "20")
    assert found["equal_in_what_is_read"] == 0
    found = states(store("run", "{uri}", "missing-barrier"), check, "--states", STATES)
    assert is_one_lost_value(found), found


def test_persistent_check_finds_what_others_find(states):
    check = store("verify-each", "{image}", "{acked}")
    more = ("--persistent", "--states", str(max(400, int(STATES) * 10)))
    whole = states(store("run", "{uri}", "32"), check, *more)
    assert (whole["code"], whole["failing"]) == (0, None), whole
    found = states(store("run", "{uri}", "missing-barrier"), check, *more)
    assert is_one_lost_value(found), found
    assert "header" in found["failing"]["check_said"]
    assert "{acked}' --persistent --state" in found["failing"]["replay"]
    silent = states(store("run", "{uri}"), "test -f {image}", *more)
    assert silent["code"] == 2
    assert "allowed: a check that writes one line" in silent["error"]


def test_marks_that_come_too_late_are_noted(states):
    check = store("verify", "{image}", "{acked}")
    late = states(store("run", "{uri}") + " | sort -n", check, "--states", "2")
    assert "all 8 marks follow each other without a request between them" in late["error"]
    assert "marks follow" not in states(store("run", "{uri}"), check, "--states", "2")["error"]


SESSIONS = [("failed-flush:20%", "retried-flush"), ("corrupt:20%", "")]


@pytest.mark.parametrize(("kind", "fault"), SESSIONS)
def test_fault_of_a_session_is_named_as_needed(states, kind, fault):
    client, check = store("run", "{uri}", fault), store("verify", "{image}", "{acked}")
    found = states(client, check, "--broken", kind, "--sessions", "6", "--states", "80")
    assert found["code"] == 1, found
    name = kind.split(":")[0]
    assert f"needed: {name}, seed" in found["sessions"]
    assert f": {name}, " in found["failing"]["story"]
    assert found["failing"]["fails_again"]


def test_client_that_stops_at_an_error_survives_faults(states):
    client, check = store("run", "{uri}"), store("verify", "{image}", "{acked}")
    kinds = "failed-flush:30%,half-write:30%"
    found = states(client, check, "--broken", kinds, "--sessions", "4", "--states", "80")
    assert found["code"] == 0, found
    assert "4 sessions with faults" in found["sessions"]


def test_cut_and_recovery_are_simulated_for_each_state(states):
    client, check = store("run", "{uri}"), store("verify", "{image}", "{acked}")
    more = ("--through-drive", "--device", "demo-8gb", "--states", "40")
    found = states(client, check, *more)
    assert found["code"] == 0, found
    # One more for the uncut state.
    assert f"under slc-cache: {found['checks'] + 1} power cuts" in found["through_drive"]
    found = states(store("run", "{uri}", "missing-barrier"), check, *more)
    assert is_one_lost_value(found), found
    assert "--through-drive --device demo-8gb" in found["failing"]["replay"]
    found = states(client, check, *more, "--size", "64GiB")
    assert found["code"] == 2
    assert "allowed: a larger device" in found["error"]


def test_recipes_give_expected_results(binary):
    command = [sys.executable, RECIPES / "recipes.py", "--wordline", binary, "--states", "30"]
    done = subprocess.run([*command, "store, torn"], capture_output=True, text=True, check=True)
    words = done.stdout.splitlines()[1].split()
    assert words[2:6] == ["consistent", "no", "consistent", "no"]
    # With two states nothing is found yet, and a setting that is unsafe seems to be safe.
    command[-1] = "2"
    done = subprocess.run([*command, "store, torn"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.endswith("DIFFERS\n")


def table_of(page: str) -> list[str]:
    text = (ROOT / page).read_text()
    return re.search(r"^```\nrecipe .*?\n(.*?)\n```$", text, re.S | re.M)[1].splitlines()


def test_printed_table_has_all_recipes():
    own = runpy.run_path(str(RECIPES / "recipes.py"))
    kinds = ("stores", "sqlite", "files", "qemu", "keys", "postgres")
    recipes = [recipe for kind in kinds for recipe in own[kind]()]
    rows = table_of("lab/results/crash.md")
    assert [re.split(r"  +", row)[0] for row in rows] == [recipe.name for recipe in recipes]
    for recipe, row in zip(recipes, rows, strict=True):
        durable = recipe.durable if "durable" in row else ""
        verdicts = {"consistent": recipe.consistent, "durable": durable}
        expected = ", ".join(f"{word} {verdict}" for word, verdict in verdicts.items() if verdict)
        assert row[37:].startswith(f"{expected:<28}{expected} "), row
    assert set(table_of("docs/crash-testing.md")) < set(rows)
    assert f" {len(recipes)} recipes" in (ROOT / "docs" / "crash-testing.md").read_text()


STORES = ROOT / "python" / "tests" / "crash_stores.py"
#: The fault of each that is hardest to find comes first; `make soak` plants them all.
PLANTED = {
    "segments": ("torn-record", "directory-late", "trim-early"),
    "double-write": ("early-reuse", "order", "no-barrier", "early-acknowledgement"),
    "copy-on-write": ("fua-only", "root-first", "in-place", "no-fua"),
    "group-commit": ("joins-late", "in-flight", "not-awaited"),
    "ring": ("sequence-reuse", "head-late", "half-checksum"),
    "checkpoint": ("truncate-early",),
    "moving-log": ("pointer-early",),
}


@pytest.mark.parametrize("name", PLANTED)
def test_faults_of_other_stores_are_found_and_no_others(states, name):
    def found(fault: str, most: str) -> dict:
        python = f"{sys.executable} -S -E {STORES}"
        check = f"{python} verify-each {name} {{image}} {{acked}} {fault}"
        more = ("--persistent", "--states", most)
        return states(f"{python} run {name} {{uri}} {fault}", check, *more)

    whole = found("", str(max(200, int(STATES) * 10)))
    assert whole["code"] == 0, whole
    for fault in PLANTED[name] if int(STATES) > 40 else PLANTED[name][:1]:
        one = found(fault, "400")
        assert one["code"] == 1, (fault, one)
        assert one["failing"]["fails_again"], (fault, one)


can_mount = os.geteuid() == 0 and all(shutil.which(name) for name in ("nbdfuse", "mkfs.ext4"))


@pytest.mark.skipif(not (can_mount and os.path.exists("/dev/loop-control")), reason="needs root")
def test_ext4_needs_barriers(states):
    client, check = (
        f"sh {RECIPES}/files.sh run {{mnt}}",
        f"sh {RECIPES}/files.sh verify {{mnt}} {{acked}}",
    )
    found = states(client, check, "--mount", "ext4", "--states", "12")
    assert (found["code"], found["failing"]) == (0, None), found
    found = states(client, check, "--mount", "ext4,barrier=0", "--states", "40")
    assert found["code"] == 1, found
    assert "was synced" in found["failing"]["check_said"]
    # The faults of a drive at work begin behind mount.
    faults = ("--broken", "half-write:90%", "--sessions", "2")
    found = states(client, "true {mnt}", "--mount", "ext4", "--states", "12", *faults)
    assert "sessions with faults of the drive" in found.get("sessions", ""), found
    # What only the cache of the file system has is no mistake of the check.
    check = "if [ -s {acked} ]; then cat {mnt}/a; fi"
    found = states("echo 1 > {mnt}/a; echo written", check, "--mount", "ext4", "--states", "12")
    assert found["code"] == 1, found
    assert "last mark before the cut: written" in found["failing"]["story"]


@pytest.mark.skipif(
    shutil.which("nbdfuse", path="/usr/sbin:/sbin") is not None, reason="nbdfuse is always found"
)
def test_mount_without_its_programs_is_refused(binary, tmp_path):
    command = [binary, "crash", "--mount", "xfs", "--run", "ls {mnt}", "--check", "ls {mnt}"]
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 2, done.stderr
    assert "error: --mount xfs: " in done.stderr
    assert "needs root" in done.stderr or "is not installed\n  allowed: " in done.stderr
    command = [binary, "crash", "--run", "ls {image}", "--check", "ls {image}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 2, done.stderr
    assert "--run: {image}: nbdfuse is not installed\n  allowed: a machine with" in done.stderr


has_nbdfuse = shutil.which("nbdfuse") is not None and os.path.exists("/dev/fuse")


@pytest.mark.skipif(
    not (has_nbdfuse and (os.geteuid() == 0 or shutil.which("fusermount3"))), reason="needs nbdfuse"
)
def test_small_stores_of_files_show_missing_fsync(states, tmp_path):
    programs = {"python": f"{sys.executable} -S -E {RECIPES}/ten.py"}
    compilers = [("ten.rs", ["rustc", "-o"])]
    if int(STATES) > 40 and shutil.which("go"):  # its first build takes a minute
        compilers.append(("ten.go", ["go", "build", "-o"]))
    for source, compiler in compilers:
        to = tmp_path / source.replace(".", "-")
        subprocess.run([*compiler, to, RECIPES / source], check=True)
        programs[source] = str(to)
    for program in programs.values():
        check = f"{program} verify {{image}} {{acked}}"
        assert states(f"{program} run {{image}}", check, "--states", "30")["code"] == 0
        found = states(f"{program} run {{image}} careless", check, "--states", "30")
        assert found["failing"]["story"].count(": LOST") == 1, found


@pytest.mark.skipif(
    not (has_nbdfuse and (os.geteuid() == 0 or shutil.which("fusermount3"))), reason="needs nbdfuse"
)
def test_workflow_for_ci_runs_and_keeps_the_smallest_story(binary, tmp_path):
    text = (RECIPES / "workflow.yml").read_text()
    variables = dict(re.findall(r"^ +(RUN|CHECK): (.+)$", text, re.M))
    commands = re.findall(r"^ +(?:- run: |run: )?(wordline crash .+)$", text, re.M)
    assert (len(variables), len(commands)) == (2, 2), text
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (tmp_path / "wordline").symlink_to(binary)

    def codes(more: str) -> list[int]:
        python = f"{sys.executable} -S -E"
        own = {key: value.replace("python3", python) for key, value in variables.items()}
        own["RUN"] += more
        environment = {**os.environ, **own, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        few = [re.sub(r"--states \d+", "--states 20", command) for command in commands]
        return [
            subprocess.run(
                ["bash", "-eo", "pipefail", "-c", command],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                check=False,
            ).returncode
            for command in few
        ]

    assert codes("") == [0, 0]
    assert codes(" careless")[0] == 1
    assert (tmp_path / "story.txt").read_text().count(": LOST") == 1


def is_shared() -> bool:
    """Whether Python's SQLite is the system's library."""
    try:
        library = ctypes.CDLL("libsqlite3.so.0")
    except OSError:
        return False
    library.sqlite3_libversion.restype = ctypes.c_char_p
    import _sqlite3

    return (
        _sqlite3.sqlite_version == library.sqlite3_libversion().decode() and "libsqlite3" in maps()
    )


def maps() -> str:
    """The libraries of this process."""
    with open("/proc/self/maps") as file:
        return file.read()


SQLITE = [
    ("OFF", "DELETE", "durable", 1),
    ("NORMAL", "WAL", "", 0),
    ("NORMAL", "WAL", "durable", 1),
    ("FULL", "WAL", "durable", 0),
]


@pytest.mark.skipif(not is_shared(), reason="Python's sqlite3 does not use the shared library")
@pytest.mark.parametrize(("synchronous", "journal", "verdict", "code"), SQLITE)
def test_sqlite_keeps_what_its_manual_promises(crash, synchronous, journal, verdict, code):
    found = crash("sqlite.py", f"{synchronous} {journal}", verdict, "--states", STATES)
    assert found["code"] == code, found


def test_log_of_dm_log_writes_finds_the_same_bug(crash, binary, tmp_path):
    own, other = tmp_path / "own.log", tmp_path / "dm.log"
    found = crash("store.py", "missing-barrier", "", "--save", str(own), "--states", "40")
    assert found["code"] == 1, found
    for source, to in ((own, other), (other, tmp_path / "back.log")):
        subprocess.run([binary, "crash", "convert", source, to], check=True, capture_output=True)
    python = f"{sys.executable} -S -E {RECIPES / 'store.py'}"
    check = f"{python} verify {{image}} {{acked}}"
    command = [binary, "crash", "--log", other, "--check", check, "--states", "40", "--json", "-"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["failing"]["story"].count(": LOST") == 1


def test_wrong_usage_ends_with_2(binary, tmp_path):
    def said(*args: str) -> str:
        done = subprocess.run(
            [binary, "crash", *args], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 2, done.stderr
        return done.stderr

    assert "--check" in said("--run", "true {uri}")
    assert "unknown placeholder {disk}" in said("--run", "true {uri}", "--check", "cat {disk}")
    assert "the client wrote nothing" in said("--run", "true {uri}", "--check", "cat {image}")
    assert "not a log of writes" in said("--log", "/dev/null", "--check", "cat {image}")
    assert "with a file system to mount" in said(
        "--run", store("run", "{uri}"), "--check", "ls {mnt}"
    )
    broken = ("--log", "/dev/null", "--check", "cat {image}", "--broken")
    assert "a client to run" in said(*broken, "slow")
    assert "allowed: shorn, garbage" in said(*broken, "shear")
