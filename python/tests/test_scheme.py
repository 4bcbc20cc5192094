"""Schemes in Python: what they come to, and how they are spelled, kept and done again."""

import inspect
import json
from pathlib import Path

import pytest

import schemes
import wordline as wl
from schemes import MINE, RESTS, SMALL, SmallFirst, made
from wordline import scheme_source, spelling
from wordline.examples.slc_cache import SlcCachePy


def test_a_class_and_an_instance_run_beside_others():
    found = wl.compare(schemes=["slc-cache", SmallFirst, SmallFirst(threshold=4096)], **SMALL)
    names = [r.config.scheme.spelling for r in found]
    assert names == ["slc-cache", "small-first", "small-first:threshold=4KiB"]
    # Requests of 4 KiB are small under both, and all go to SLC.
    assert found[1].result_hash == found[2].result_hash
    assert found[1].config.scheme.parameters.threshold == "16KiB"
    assert wl.run(scheme=SmallFirst(threshold=0), **SMALL).result_hash != found[1].result_hash


def test_replicas_and_threads_come_to_the_same():
    several = wl.run(scheme=SmallFirst, replicas=3, threads=3, **SMALL).to_dict()
    one = wl.run(scheme=SmallFirst, seed=2, **SMALL)
    assert several["replicas"]["runs"][1]["result_hash"] == one.result_hash


def test_a_combination_may_have_a_class_in_front():
    text = wl.spelling.text(SmallFirst(threshold=8192))
    found = wl.run(scheme=f"{text}+ips", **SMALL)
    assert found.config.scheme.spelling == "small-first:threshold=8KiB+ips"


def test_another_source_is_another_run(tmp_path):
    identities = []
    for letter in "ab":
        folder = tmp_path / letter
        folder.mkdir()
        (folder / "mine.py").write_text(
            "import wordline as wl\n"
            f"# {letter}\n"
            "class Mine(wl.Scheme):\n"
            "    def layout(self, drive): return wl.Layout.one_region(drive)\n"
            "    def place(self, p, view): return wl.to('dense')\n"
        )
        run = wl.Run(scheme=f"py:{folder}/mine.py#Mine", **SMALL)
        identities.append(run.identity()["scheme"]["parameters"]["source"])
    assert identities[0] != identities[1]


def test_parameters_are_held_to_their_types():
    with pytest.raises(wl.UserError, match="has no parameter 'treshold'; it has threshold"):
        SmallFirst(treshold=1)
    with pytest.raises(wl.UserError, match='"big" is not a size'):
        SmallFirst(threshold="big")
    with pytest.raises(AttributeError, match="threshold is a parameter"):
        SmallFirst().threshold = 3
    text = wl.spelling.text(SmallFirst)
    with pytest.raises(wl.UserError, match=r'threshold.*"big" is not a size'):
        wl.run(scheme=f"{text}:threshold=big", **SMALL)
    with pytest.raises(wl.UserError, match="tresh"):
        wl.run(scheme=f"{text}:treshold=1", **SMALL)
    with pytest.raises(wl.UserError, match="not one of 'device', 'wait', 'direct'"):
        SlcCachePy(when_full="never")


def test_a_class_without_place_is_no_scheme():
    class Half(wl.Scheme):
        def layout(self, drive):
            return wl.Layout.one_region(drive)

    with pytest.raises(wl.UserError, match=r"Half has no method place\(\)"):
        wl.run(scheme=Half, **SMALL)


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("py:none.py#X", "no such file"),
        (
            f"py:{schemes.__file__}#Nobody",
            "has no scheme 'Nobody'; use .* with one of .*SmallFirst",
        ),
        ("py:#Gone", "was defined in an interpreter, a notebook or a function"),
    ],
)
def test_a_spelling_that_leads_nowhere(spelling, message):
    with pytest.raises(wl.UserError, match=message):
        wl.run(scheme=spelling, **SMALL)


def test_an_interrupt_ends_a_run_in_python(tmp_path):
    class Stops(SmallFirst):
        """Interrupts as a user would."""

        def place(self, p, view):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wl.run(scheme=Stops, **SMALL)


def test_the_report_holds_the_hash_of_the_source():
    report = wl.run(scheme=SmallFirst, **SMALL)
    own = scheme_source.source(SmallFirst)[1][:16]
    assert json.loads(report.json)["config"]["scheme"]["parameters"]["source"] == own
    assert Path(schemes.__file__).read_text() == scheme_source.source(SmallFirst)[0]


def test_classes_made_by_type_differ_by_their_methods():
    one = made(place=lambda self, p, view: wl.to("slc"))
    other = made(place=lambda self, p, view: wl.to("dense"))
    # Neither has a file: Python names that of their metaclass.
    assert scheme_source.file_of(one) == ""
    assert "class ABCMeta" not in scheme_source.source(one)[0]
    assert scheme_source.source(one) != scheme_source.source(other)
    assert wl.spelling.text(other) == "py:#Made"


def test_the_command_takes_a_class_of_a_file(wordline, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    small = ["--device", "fair-tlc", "--workload", "uniform", "--requests", "500"]
    done = wordline("run", "--scheme", "py:mine.py#Mine:size=4KiB", *small, "--json", "-")
    assert done.code == 0, done.err
    own = wl.Run(
        device="fair-tlc", workload="uniform", requests=500, scheme=f"py:{tmp_path}/mine.py#Mine"
    )
    assert done.json["result_hash"] == own.do().result_hash
    swept = wordline("sweep", "--scheme", "py:mine.py#Mine", "--scheme=slc-cache", *small)
    assert swept.code == 0, swept.err
    wrong = wordline("run", "--scheme=py:mine.py#Mine:size=1B", *small)
    assert wrong.code != 0
    assert "ValueError: one" in wrong.err
    lost = wordline("run", "--scheme", "py:mine.py#Yours", *small)
    assert lost.code == 2
    assert "has no scheme 'Yours'" in lost.err


def test_classes_of_files_are_parted_by_commas(tmp_path):
    (tmp_path / "a,b").mkdir()
    path = tmp_path / "a,b" / "mine.py"
    path.write_text(MINE)
    own = f"py:{path}#Mine"
    for typed, native in (
        (f"{own},conventional", "mine,conventional"),
        (f"conventional,{own}", "conventional,mine"),
        (f"{own}:size=8KiB,conventional+raro", "mine:size=8KiB,conventional+raro"),
        (own, "mine"),
    ):
        found, classes = spelling.in_arguments(["wordline", "compare", "--scheme", typed])
        assert found[-1] == native
        assert len(classes) == 1


def test_rerun_refuses_changed_class():
    for scheme in (SmallFirst(threshold=4096), f"{wl.spelling.text(SmallFirst)}+ips"):
        report = wl.run(scheme=scheme, **SMALL)
        again = wl.rerun(report, classes=[SmallFirst])
        assert again.result_hash == report.result_hash
        with pytest.raises(wl.UserError, match="a Python class; pass it with classes="):
            wl.rerun(report)
        own = scheme_source.source(SmallFirst)[1][:16]
        changed = report.json.replace(own, "0" * 16)
        with pytest.raises(wl.UserError, match="source of SmallFirst has changed"):
            wl.rerun(changed, classes=[SmallFirst])


def test_a_report_has_the_source_of_its_class():
    found = wl.run(scheme=SlcCachePy, **SMALL)
    [(name, text)] = found.to_dict()["config"]["scheme"]["sources"].items()
    assert name == "slc-cache-py"
    assert text == Path(inspect.getsourcefile(SlcCachePy)).read_text()
    assert "sources" not in wl.run(scheme="slc-cache", **SMALL).to_dict()["config"]["scheme"]
    assert wl.rerun(found, classes=[SlcCachePy]).result_hash == found.result_hash


def test_command_line_reruns_class_report(tmp_path, capfd):
    file = tmp_path / "first.py"
    file.write_text(
        "import wordline as wl\n\n\nclass First(wl.Scheme):\n"
        "    def layout(self, drive):\n        return wl.Layout.slc_cache(drive)\n\n"
        "    def place(self, p, view):\n        return wl.to('slc', 'dense')\n"
    )
    report = tmp_path / "one.json"
    report.write_text(wl.run(**RESTS, scheme=f"py:{file}#First").json)
    again = ["wordline", "rerun", str(report)]
    assert wl._wordline.main([*again, "--class", f"py:{file}#First"]) == 0
    assert "identical result" in capfd.readouterr().err
    assert wl._wordline.main(again) == 2
    assert "it is a Python class; pass it with --class py:FILE#CLASS" in capfd.readouterr().err
    with pytest.raises(
        wl.UserError, match="not the JSON of a report; pass the text, not the path of a file"
    ):
        wl.rerun(str(report))
