"""Where a search looks: parameters with their bounds or choices, and values as spellings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wordline import UserError, parameters, spelling
from wordline._api import AnyScheme
from wordline.parameters import Size

if TYPE_CHECKING:
    from optuna.trial import Trial

#: Of one parameter: a list of its choices, or its least and greatest value, perhaps with ``"log"``.
Bounds = Sequence[Any]


@dataclass(frozen=True)
class Dimension:
    """One parameter of the search."""

    name: str  #: As a spelling has it.
    choices: tuple[Any, ...] = ()  #: The values that are tried, if not numbers between two bounds.
    #: The bounds, and whether steps are even on a logarithmic scale; whole numbers if both are,
    #: sizes if the lower is one.
    low: float = 0
    high: float = 0
    log: bool = False

    def suggest(self, trial: Trial) -> Any:
        """Let the sampler of a trial choose a value."""
        if self.choices:
            return trial.suggest_categorical(self.name, list(self.choices))
        if isinstance(self.low, int) and isinstance(self.high, int):
            found = trial.suggest_int(self.name, self.low, self.high, log=self.log)
            return Size(found) if isinstance(self.low, Size) else found
        return trial.suggest_float(self.name, self.low, self.high, log=self.log)


def dimensions(space: Mapping[str, Bounds]) -> list[Dimension]:
    """Read the space of a search.

    Raises `UserError`: a parameter has no values, or bounds that are none.
    """
    if not space:
        raise UserError("space is empty; name at least one parameter with its bounds or choices")
    return [_dimension(name, bounds) for name, bounds in space.items()]


def _dimension(name: str, bounds: Bounds) -> Dimension:
    if isinstance(bounds, list) and bounds:
        return Dimension(name, choices=tuple(bounds))
    if isinstance(bounds, tuple) and len(bounds) in (2, 3):
        low, high, *log = bounds
        numbers = all(isinstance(b, (int, float)) and not isinstance(b, bool) for b in (low, high))
        if numbers and low < high and log in ([], ["log"]) and (low > 0 or not log):
            return Dimension(name, low=low, high=high, log=bool(log))
    raise UserError(
        f"space[{name!r}]={bounds!r}: give a list of choices, or bounds as (least, greatest) or "
        '(least, greatest, "log")'
    )


def spelled(scheme: AnyScheme, values: Mapping[str, Any]) -> str:
    """Return the spelling of a scheme with parameters, in place of or after those that it has.

    Of a combination its last part gets them.
    """
    text = spelling.text(scheme)
    if not values:
        return text
    *front, last = spelling.parts(text)
    # A path may hold a colon; of a class the parameters come behind its name.
    path, mark, own = last.rpartition("#") if last.startswith(spelling.PREFIX) else ("", "", last)
    name, _, given = own.partition(":")
    kept = [p for p in given.split(",") if p and p.partition("=")[0] not in values]
    return "+".join([*front, f"{path}{mark}{name}:{','.join([*kept, settings(values)])}"])


def settings(values: Mapping[str, Any]) -> str:
    """Return parameters as a spelling has them."""
    return ",".join(f"{name}={_text(value)}" for name, value in values.items())


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else parameters.spelled(value)
