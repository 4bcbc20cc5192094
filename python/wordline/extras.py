"""What a command needs beyond the package itself."""

from __future__ import annotations

import importlib

from wordline import UserError

#: Of everything that runs grids and draws.
SWEEP = ("scipy", "rich", "matplotlib", "pyarrow", "markdown_it")


def needs(command: str, *modules: str) -> None:
    """Say which package is missing, and how to get it.

    Raises
    ------
    UserError
        One of the modules is not installed.
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as e:
            raise UserError(
                f"{command} needs {e.name}, which is not installed; "
                f"pip install 'wordline[{command}]'"
            ) from e
