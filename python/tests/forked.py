"""Commands of an interpreter that has imported what they need: each in a fork of it.

A command so run is a process of its own, as one that is typed, but for what an interpreter does
before the first line of the package. `Interpreter` is the side of a test; the file itself is run
as the other side. It imports what commands before have imported, so that each module is loaded
once a session.
"""

import atexit
import gc
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

#: Packages whose modules are imported before later forks; none begins a thread when imported.
LOADED = {"importlib", "markdown_it", "matplotlib", "numpy", "pyarrow", "rich", "scipy"} | {
    "wordline",
    "wordline_lab",
}


class Interpreter:
    """An interpreter that is forked for each command."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.begun = _of_interpreter(os.environ)

    def run(
        self, words: Sequence[str], *, cwd: Path, stdin: str | None = None, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Run ``wordline`` with these words in a folder, in the environment of this process.

        Raises `subprocess.TimeoutExpired` if it takes longer than `timeout` seconds.
        """
        assert _of_interpreter(os.environ) == self.begun, "needs an interpreter of its own"
        with tempfile.TemporaryDirectory() as folder:
            files = {name: f"{folder}/{name}" for name in ("in", "out", "err", "modules")}
            Path(files["in"]).write_text(stdin or "")
            asked = {
                "words": [*words],
                "cwd": str(cwd),
                "environ": dict(os.environ),
                **files,
            }
            self.process.stdin.write(json.dumps(asked).encode() + b"\n")
            self.process.stdin.flush()
            pid = int(self._line())
            late = not select.select([self.process.stdout], [], [], timeout)[0]
            if late:
                os.kill(pid, 9)
            code = int(self._line())
            out, err = Path(files["out"]).read_text(), Path(files["err"]).read_text()
        if late:
            raise subprocess.TimeoutExpired(["wordline", *words], timeout, out, err)
        return subprocess.CompletedProcess(["wordline", *words], code, out, err)

    def _line(self) -> bytes:
        # Unbuffered, so that `select` sees all that has not been read.
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self.process.stdout.fileno(), 1)
            assert byte, "the interpreter has ended"
            line += byte
        return line

    def end(self) -> None:
        """End the interpreter."""
        self.process.stdin.close()
        self.process.wait(timeout=10)
        self.process.stdout.close()


def _of_interpreter(environ: os._Environ) -> dict[str, str]:
    """What an interpreter reads only as it begins."""
    return {key: value for key, value in environ.items() if key.startswith(("PYTHON", "LD_"))}


def _serve() -> None:
    """Fork for each command that is asked for, until nobody can ask any more."""
    asks, replies = os.dup(0), os.dup(1)
    # Nothing that is imported prints among the replies, or finds the modules of the tests.
    os.dup2(2, 1)
    sys.path[0] = str(Path(sys.executable).parent)
    known = set(sys.modules)
    for line in os.fdopen(asks, "rb"):
        asked = json.loads(line)
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            os.close(asks), os.close(replies)
            _perform(asked)
        os.write(replies, b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        if (loaded := Path(asked["modules"])).exists():
            new = [name for name in loaded.read_text().split() if name not in known]
            known.update(new)
            for name in new:
                with suppress(ImportError):
                    import_module(name)
        os.write(replies, b"%d\n" % os.waitstatus_to_exitcode(status))


def _perform(asked: dict) -> None:
    """Be a process that was begun with these words, and end it."""
    writes = os.O_WRONLY | os.O_CREAT
    for fd, name, how in ((0, "in", os.O_RDONLY), (1, "out", writes), (2, "err", writes)):
        file = os.open(asked[name], how, 0o600)
        os.dup2(file, fd)
        os.close(file)
    code = 1
    try:
        os.environ.clear()
        os.environ.update(asked["environ"])
        os.chdir(asked["cwd"])
        sys.argv = ["wordline", *asked["words"]]
        from wordline import _cli

        _cli.main()
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else int(e.code is not None)
    except BaseException:
        traceback.print_exc()
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    mine = (name for name in [*sys.modules] if name.partition(".")[0] in LOADED)
    Path(asked["modules"]).write_text("\n".join(mine))
    os._exit(code)


if __name__ == "__main__":
    _serve()
