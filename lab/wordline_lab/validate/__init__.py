"""Compare the engine with theory and with recorded figures: ``wordline validate``.

`claims.toml` states each comparison; one module per experiment runs it; `runner` judges, `table`,
`picture` and `page` show. Formulas are in `wordline_lab.theory`.
"""

from __future__ import annotations

import fnmatch
import sys
import time
from pathlib import Path

from wordline import UserError
from wordline.commands import perform


def main(
    *,
    quick: bool = False,
    only: str | None = None,
    out: str | None = None,
    claims: str | None = None,
) -> int:
    """Run the claims and print the table.

    Parameters
    ----------
    quick
        Fewer and smaller rows, in about a minute.
    only
        Only rows whose id matches this pattern, such as ``waf-*``; a part of the id will do.
    out
        Folder for the page, its picture and the data.
    claims
        Another claims file.

    Returns
    -------
    int
        0 if every row is within its tolerance or has its reason beside it, else 1; 2 if the input
        is wrong.
    """
    return perform(
        "validate",
        ("matplotlib", "scipy"),
        lambda: _main(quick, only, out, claims),
        extra="sweep",
    )


def _main(quick: bool, only: str | None, out: str | None, claims: str | None) -> int:
    from wordline_lab.validate import page, table
    from wordline_lab.validate.claims import BUILT_IN, read
    from wordline_lab.validate.runner import Row, run

    read_claims = read(Path(claims) if claims else BUILT_IN, quick=quick)
    rows = read_claims.rows
    if only:
        pattern = only if any(c in only for c in "*?[") else f"*{only}*"
        rows = [row for row in rows if fnmatch.fnmatchcase(row.id, pattern)]
        if not rows:
            ids = ", ".join(dict.fromkeys(row.id.split("-")[0] for row in read_claims.rows))
            raise UserError(f"--only {only}: matches no row; ids begin with {ids}")
    part = page.Part(quick, only, bool(claims))
    folder = Path(out) if out else None
    if folder:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise UserError(f"--out {out}: {e}") from e
        page.check_free(folder, part)

    begin = time.perf_counter()
    watched = sys.stderr.isatty()

    def progress(done: int, row: Row) -> None:
        if watched:
            print(
                f"\r\x1b[K{done} of {len(rows)} in {time.perf_counter() - begin:.0f} s"
                f"  {row.claim.id}",
                end="",
                file=sys.stderr,
                flush=True,
            )

    done = run(rows, progress)
    if watched:
        print("\r\x1b[K", end="", file=sys.stderr)
    print(table.terminal(done, colour=sys.stdout.isatty()))
    of = "" if part.is_whole else f" ({part.words})"
    print(f"\n{table.verdict(done)}{of}; {time.perf_counter() - begin:.0f} s")
    if folder:
        for path in page.write(folder, done, read_claims.left_out, part):
            print(f"wrote {path}", file=sys.stderr)
    return 0 if all(row.passes for row in done) else 1
