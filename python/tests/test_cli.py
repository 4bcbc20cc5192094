import html
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

import wordline as wl
from helpers import LIVED, ROOT, call
from wordline import toml


def ok(done):
    assert done.code == 0, done.err
    return done


def test_the_script_and_the_native_binary_say_the_same(script, binary):
    pages = [["--version"], ["--help"], ["compare", "--help"], ["run", "--help"]]
    pages += [["validate", "--help"], ["validate", "--quik"]]
    pages += [["list", "schemes"], ["explain", "slc-cache"], ["run", "--device", "x"]]
    for args in pages:
        ours, theirs = script(*args), call(binary, *args)
        assert (ours.code, ours.out, ours.err) == (theirs.code, theirs.out, theirs.err), args


def test_version_prints_quickly(script):
    script("--version")
    begin = time.monotonic()
    done = ok(script("--version"))
    assert done.out == f"wordline {wl.__version__}\n"
    # 150 ms is what is promised; a busy machine gets some more.
    assert time.monotonic() - begin < 1.0


def test_compare_prints_only_a_table_in_a_pipe(wordline, small):
    done = ok(wordline("compare", *small, "--scheme", "conventional", "--scheme", "slc-cache"))
    assert "conventional" in done.out
    assert "slc-cache" in done.out
    assert "WAF" in done.out
    assert "\x1b" not in done.out
    assert done.err == ""


@pytest.mark.parametrize(
    "asked",
    [
        "--workload bursty:write_rate=100MB/s,burst=2% --requests 2000 --seed 7",
        "--workload bursty --requests 900 --set workload.burst=3%",
        "--workload small.csv --set scheme.static_blocks=4 --fit wrap --replicas 2",
    ],
)
def test_printed_command_reproduces_result(wordline, trace, tmp_path, asked):
    changes = ["gc.trigger=free_blocks < 5%", "gc.victim=fifo"]
    args = [*asked.split(), "--device", "demo-8gb"]
    args += ["--scheme", "conventional", "--scheme", "slc-cache:when_full=wait"]
    args += [word for change in changes for word in ("--set", change)]
    first = ok(wordline("compare", *args, "--out", "first"))
    command = first.out[first.out.index("\nwordline compare") :].strip()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path}
    subprocess.run(
        f"{command} --out again", shell=True, cwd=tmp_path, env=env, check=True, capture_output=True
    )
    once, again = (
        json.loads((tmp_path / folder / "comparison.json").read_text())["reports"]
        for folder in ("first", "again")
    )
    for key in ("result_hash", "command"):
        assert [r[key] for r in once] == [r[key] for r in again], command
    heading = " ".join(first.out[: first.out.index("Write latency")].split())
    assert ", ".join(changes) in heading


def test_headings_have_the_workload_whole(wordline, tmp_path):
    spelled = "bursty:write_rate=100MB/s,burst=2%"
    args = ["--device", "demo-8gb", "--workload", spelled, "--requests", "900"]
    args += ["--set", "gc.victim=fifo", "--scheme", "slc-cache", "--out", "o"]
    printed = ok(wordline("run", *args)).out
    page = html.unescape((tmp_path / "o/report.html").read_text())
    for text in (printed, page):
        assert spelled in text
        assert "gc.victim=fifo" in text


def test_json_on_standard_output_is_the_report_alone(wordline, small):
    done = ok(wordline("run", *small, "--scheme", "slc-cache", "--json", "-"))
    schema = json.loads((ROOT / "crates/report/report.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(done.json)
    api = wl.run(device="demo-8gb", workload="bursty", requests=2000, scheme="slc-cache")
    assert done.json["result_hash"] == api.result_hash


def test_out_holds_page_pictures_data_and_json(wordline, small, tmp_path):
    schemes = ["--scheme", "conventional", "--scheme", "slc-cache"]
    ok(wordline("compare", *small, *schemes, "--out", "a/b"))
    out = tmp_path / "a/b"
    assert json.loads((out / "comparison.json").read_text())["schema"] == "wordline.comparison/1"
    page = (out / "report.html").read_text()
    assert len(page) < 1_000_000
    pictures = sorted(p.stem for p in (out / "figures").glob("*.svg"))
    assert pictures == sorted(p.stem for p in (out / "figures").glob("*.csv"))
    assert "write-latency-cdf" in pictures
    assert not [p for p in out.rglob("*") if p.suffix == ".part"]
    ok(wordline("run", *small, "--scheme", "conventional", "--out", "c"))
    assert (tmp_path / "c/report.json").exists()


def test_rerun_compares_hashes(wordline, small, tmp_path):
    args = [*small, "--set", "gc.victim=fifo", "--seed", "5", "--initial", "fill:50%,valid=90%"]
    ok(wordline("run", *args, "--scheme", "slc-cache", "--json", "r.json"))
    done = ok(wordline("rerun", "r.json", "--json", "again.json"))
    assert "identical result" in done.err
    first, again = (json.loads((tmp_path / n).read_text()) for n in ("r.json", "again.json"))
    assert first["result_hash"] == again["result_hash"]
    first["result_hash"] = "0" * 16
    (tmp_path / "r.json").write_text(json.dumps(first))
    done = wordline("rerun", "r.json")
    assert done.code == 1
    assert "result differs" in done.err


def test_rerun_takes_a_comparison(wordline, small):
    ok(
        wordline(
            "compare",
            *small,
            "--scheme",
            "conventional",
            "--scheme",
            "slc-cache",
            "--json",
            "c.json",
        )
    )
    done = ok(wordline("rerun", "c.json"))
    assert done.err.count("identical result") == 2


def test_rerun_repeats_every_replica(wordline, small, tmp_path):
    args = ["--scheme", "conventional", "--scheme", "slc-cache", "--replicas", "3"]
    ok(wordline("compare", *small, *args, "--json", "c.json"))
    done = ok(wordline("rerun", "c.json"))
    assert done.err.count("identical in all 3 replicas") == 2
    found = json.loads((tmp_path / "c.json").read_text())
    found["reports"][1]["replicas"]["runs"][2]["result_hash"] = "0" * 16
    (tmp_path / "c.json").write_text(json.dumps(found))
    done = wordline("rerun", "c.json")
    assert done.code == 1
    assert "slc-cache: result differs, in the replicas with seed 3" in done.err


def test_replicas_of_a_trace_are_identical(wordline, trace):
    args = ["--device", "demo-8gb", "--scheme", "conventional", "--workload", trace]
    done = ok(wordline("run", *args, "--replicas", "3"))
    assert "all 3 replicas have identical results" in done.out
    assert "±" not in done.out


def test_trace_inspect_names_format_and_bad_lines(wordline, trace):
    done = ok(wordline("trace", "inspect", trace))
    assert "msr" in done.out
    assert "200" in done.out
    with trace.open("a") as file:
        file.write("what is this\n")
    found = ok(wordline("trace", "inspect", trace, "--json", "-")).json
    assert found["unusable"]["count"] == 1
    assert "201" in json.dumps(found["unusable"])


def test_a_trace_comes_through_a_pipe(wordline, trace):
    args = ["--device", "demo-8gb", "--scheme", "conventional", "--json", "-"]
    piped = ok(wordline("run", *args, "--workload", "-", stdin=trace.read_text()))
    named = ok(wordline("run", *args, "--workload", trace))
    assert piped.json["result_hash"] == named.json["result_hash"]


def like_another(names):
    """Twins whose page is made as that of a twin before: the same tables, and the same targets.

    Explaining one generates half a million requests. That each twin is generated and meets its
    targets is tested in `crates/workload/tests/it/twins.rs`.
    """
    seen, found = set(), set()
    for name in names:
        file = ROOT / "crates/workload/twins" / f"{name.removeprefix('twin:')}.toml"
        if file.exists():
            described = toml.read(file)
            shape = (*sorted(described), *sorted(described.get("targets", {})))
            found |= {name} if shape in seen else set()
            seen.add(shape)
    return found


@pytest.mark.parametrize("kind", ["devices", "schemes", "workloads", "formats"])
def test_everything_listed_can_be_explained(wordline, kind):
    listed = ok(wordline("list", kind)).out
    names = [entry["name"] for entry in ok(wordline("list", kind, "--json")).json]
    left_out = like_another(names)
    assert len(left_out) == (19 if kind == "workloads" else 0)
    for name in names:
        assert name in listed
        assert name in left_out or name in ok(wordline("explain", name)).out


def test_a_closed_pipe_is_no_error(tmp_path, small):
    script = os.path.join(os.path.dirname(sys.executable), "wordline")
    done = subprocess.run(
        ["bash", "-c", f'"{script}" explain demo-8gb | head -1; echo ${{PIPESTATUS[0]}}'],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


BAD = [
    # what is changed, what the message says
    (["--device", "demo-8bg"], ['did you mean "demo-8gb"?', "list devices"]),
    (["--device", "nowhere.toml"], ["nowhere.toml", "no built-in device or file of this name"]),
    (["--scheme", "slc-cahce"], ['did you mean "slc-cache"?']),
    (["--scheme", "slc-cache:static=3"], ["static"]),
    (["--workload", "burtsy"], ['did you mean "bursty"?', "allowed"]),
    (["--workload", "missing.csv"], ["missing.csv", "no such file"]),
    (["--workload", "uniform:raed=50%"], ["raed", 'did you mean "read"?']),
    (["--set", "gc.victm=fifo"], ["victm", 'did you mean "victim"?']),
    (["--set", "medium.flash.tlc.read=75"], ["medium.flash.tlc.read", "75"]),
    (["--set", "medium.flash.page=5KiB"], ["5KiB"]),
    (
        ["--set", "capacity.logical=1TiB"],
        ["capacity.logical", "exceeds the capacity of the flash in its densest mode"],
    ),
    (["--set", "medium.flash.channels=99999999999"], ["channels", "whole number"]),
    (["--set", "gc.victim"], ["KEY=VALUE"]),
    (["--fit", "squeeze"], ["squeeze", "error, wrap, compact"]),
    (["--initial", "preloaded"], ["preloaded", "allowed"]),
    (["--requests", "many"], ["many"]),
    (["--requests", "0"], ["requests"]),
    (["--seed", "-1"], ["seed"]),
    (["--replicas", "0"], ["replicas", "from 1 to 1000"]),
    (["--json", "no/such/folder/r.json"], ["no/such/folder/r.json", "cannot be written"]),
    (["--json", "."], ["folder"]),
    (["--out", "/proc/nothing"], ["/proc/nothing", "cannot be written"]),
]


@pytest.mark.parametrize(
    ("change", "says"), BAD, ids=lambda v: " ".join(v) if isinstance(v, list) else v
)
def test_user_error_exits_with_2_and_a_hint(wordline, change, says):
    args = {
        "--device": "demo-8gb",
        "--workload": "bursty",
        "--scheme": "slc-cache",
        "--requests": "100",
    }
    args[change[0]] = change[1]
    done = wordline("run", *[w for pair in args.items() for w in pair])
    assert done.code == 2, done.err
    assert done.out == ""
    for word in says:
        assert word in done.err


def traces():
    start = 128166372000000000
    line = f"{start},host,0,Read,4096,4096,100\n"
    return {
        "empty": (b"", ["empty"]),
        "binary": (bytes(range(256)) * 64, ["wordline list formats"]),
        "text": (
            b"It was the best of times,\nit was the worst of times\n",
            ["wordline list formats"],
        ),
        "zero length": (
            line.encode() * 3 + f"{start},h,0,Read,0,0,1\n".encode(),
            [":4", "length zero"],
        ),
        "backwards": (
            f"{line}{start + 100},h,0,Read,0,512,1\n{start - 9},h,0,Read,0,512,1\n".encode(),
            [":3", "out of order", "backwards=clamp"],
        ),
        "overflow": (
            line.encode() + f"{start},h,0,Write,99999999999999999999999,512,1\n".encode(),
            [":2"],
        ),
        "beyond the drive": (
            line.encode() + f"{start},h,0,Write,{99 << 30},4096,1\n".encode(),
            ["fit=compact", "fit=wrap", "99"],
        ),
        "cut gzip": (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x33\x34", ["trace"]),
    }


@pytest.mark.parametrize("name", traces())
def test_a_bad_trace_ends_with_2_and_says_where(wordline, tmp_path, name):
    content, says = traces()[name]
    path = tmp_path / "bad.trace"
    path.write_bytes(content)
    done = wordline("run", "--device", "demo-8gb", "--scheme", "conventional", "--workload", path)
    assert done.code == 2, done.err
    assert "bad.trace" in done.err
    for word in says:
        assert word in done.err, done.err


def test_request_beyond_drive_is_fitted(wordline, tmp_path):
    content, _ = traces()["beyond the drive"]
    (tmp_path / "far.csv").write_bytes(content)
    for fit in ("wrap", "compact"):
        args = ["--device", "demo-8gb", "--scheme", "conventional", "--workload", "far.csv"]
        done = ok(wordline("run", *args, "--fit", fit, "--json", "-"))
        assert done.json["host"]["completed"] == 2
        assert done.json["workload"]["fit"] == fit


def test_a_failed_run_leaves_no_file_that_looks_whole(wordline, tmp_path):
    args = ["--device", "demo-8gb", "--workload", "bursty", "--requests", "10"]
    done = wordline("run", *args, "--scheme", "slc-cahce", "--json", "r.json", "--out", "o")
    assert done.code == 2
    assert not (tmp_path / "r.json").exists()
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_an_old_report_survives_a_failed_run(wordline, tmp_path):
    (tmp_path / "r.json").write_text("before")
    wordline(
        "run",
        "--device",
        "demo-8gb",
        "--workload",
        "missing.csv",
        "--scheme",
        "x",
        "--json",
        "r.json",
    )
    assert (tmp_path / "r.json").read_text() == "before"


def test_color_is_for_terminals_only(small):
    pty = pytest.importorskip("pty")
    script = os.path.join(os.path.dirname(sys.executable), "wordline")

    def shown(env):
        parts = []
        pid, fd = pty.fork()
        if pid == 0:
            os.environ.update({"TERM": "xterm", **env})
            os.execv(script, [script, "run", *small, "--scheme", "conventional"])
        try:
            while chunk := os.read(fd, 65536):
                parts.append(chunk)
        except OSError:
            pass  # Linux reports the end of a terminal as an error.
        os.waitpid(pid, 0)
        return b"".join(parts)

    assert b"\x1b[1m" in shown({})
    assert b"\x1b[1m" not in shown({"NO_COLOR": "1"})


def test_the_demonstration_needs_nothing(wordline, tmp_path):
    done = ok(wordline("demo", "--requests", "2000"))
    assert "slc-cache" in done.out
    assert (tmp_path / "out/demo/report.html").exists()
    assert "out/demo/report.html" in done.err


def test_job_priority_reaches_scheme(wordline, tmp_path):
    job = "[global]\nrw=randwrite\nbs=8k\nsize=64m\nnumber_ios=600\n[only]\n"
    shares = {}
    for prioclass in (0, 1):
        (tmp_path / "job.fio").write_text(f"{job}prioclass={prioclass}\n")
        arguments = ["--workload", "job.fio", "--scheme", "pa-ssd:HGS", "--json", "-"]
        report = wordline("run", "--device", "pa-ssd-288gb", *arguments).json
        programs = report["flash"]["page_types"]["programs"]
        shares[prioclass] = programs["lsb"] / sum(programs.values())
    # Without a word of the host HGS falls back on US.
    assert shares[1] == 1
    assert shares[0] < 0.9
    (tmp_path / "job.fio").write_text(f"{job}prioclass=7\n")
    done = wordline("run", "--device", "pa-ssd-288gb", *arguments)
    assert done.code == 2
    assert "prioclass" in done.err


@pytest.mark.parametrize("name", ["small-first", "x2"])
def test_new_scheme_and_its_test_run_unchanged(wordline, tmp_path, name):
    done = wordline("scheme", "new", name)
    assert done.code == 0, done.err
    file = name.replace("-", "_")
    assert f"py:{file}.py#" in done.out
    ran = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_{file}.py"]
    # Random drives do not depend on the name; `small-first` is held to them.
    ran += [] if name == "small-first" else ["-k", "not random_drives"]
    tested = subprocess.run(ran, cwd=tmp_path, capture_output=True, text=True)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    ruff = [Path(sys.executable).with_name("ruff"), "check", "--isolated", "--select", "E,F,W,UP,B"]
    linted = subprocess.run([*ruff, "."], cwd=tmp_path, capture_output=True, text=True)
    assert linted.returncode == 0, linted.stdout
    again = wordline("scheme", "new", name)
    assert again.code == 2
    assert "file exists; --force overwrites it" in again.err
    assert wordline("scheme", "new", name, "--force").code == 0


def test_new_rust_scheme_is_renamed_sample(wordline, tmp_path):
    assert wordline("scheme", "new", "deep-idea", "--rust", "--out", "new/folder").code == 0
    assert (tmp_path / "new/folder/deep_idea.rs").is_file()
    assert wordline("scheme", "new", "deep-idea", "--rust", "--out", ".").code == 0
    text = (tmp_path / "deep_idea.rs").read_text()
    sample = (ROOT / "crates/schemes/tests/sample/my_scheme.rs").read_text()
    back = text.replace("deep-idea", "my-scheme").replace("deep_idea", "my_scheme")
    assert back.replace("DeepIdea", "MyScheme").replace("Deep idea", "My scheme") == sample


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Small", "is not a valid scheme name"),
        ("small--first", "is not a valid scheme name"),
        ("2x", "is not a valid scheme name"),
        ("ips", "a scheme of this name exists; choose another"),
    ],
)
def test_a_scheme_of_a_wrong_name_is_refused(wordline, tmp_path, name, message):
    done = wordline("scheme", "new", name)
    assert done.code == 2
    assert message in done.err
    assert not list(tmp_path.iterdir())


def test_local_lifetime_equals_native_command(wordline, binary, tmp_path):
    keys = [f"--set={key}={value}" for key, value in sorted(LIVED["set"].items())]
    life = ["lifetime", "--device", LIVED["device"], "--workload", LIVED["workload"], *keys]
    life += ["--requests", LIVED["requests"], "--acceleration", "100", "--scheme", "raro"]
    native = call(binary, *life, "--out", "native", cwd=tmp_path)
    assert native.code == 0, native.err
    done = wordline(*life, "--on", "2", "--out", "lives")
    assert done.code == 0, done.err
    assert done.out == native.out
    assert "[2/2] raro, seed 1, acceleration " in done.err
    for name in ("lifetime.json", "lifetime.html", "phases.csv", "figures/lifetime-written.svg"):
        assert (tmp_path / "lives" / name).read_bytes() == (tmp_path / "native" / name).read_bytes()
    kept = json.loads((tmp_path / "native" / "lifetime.json").read_text())
    assert " ".join(kept["command"][:2]) == "wordline lifetime"
    typed = wordline(*kept["command"][1:], "--out", "typed")
    assert typed.code == 0, typed.err
    assert json.loads((tmp_path / "typed" / "lifetime.json").read_text()) == kept
    again = wordline(*life, "--on", "1", "--out", "lives")
    assert again.err.count("was kept") == 2
    refused = call(binary, *life, "--on", "2", "--out", "lives", cwd=tmp_path)
    assert refused.code == 2
    assert (
        "this command needs Python, which this binary does not include; run pip install"
        in refused.err
    )
    assert "--out" in wordline(*life, "--on", "2").err
    assert (
        "starts with a new drive"
        in wordline(*life, "--on", "2", "--out", "x", "--from-state", "a.state").err
    )
