"""Search for parameters, and judge what a search has found: ``wordline.tune``, ``wordline.judge``.

`space` says where a search looks, `score` how good a candidate is, `optimizer` searches, and
`verdict` holds a candidate to drives, seeds and workloads that the search has not seen. No module
has the name of a function of the package: it would hide the function from type checkers.
"""

from wordline.search.optimizer import Trial, Tuned, tune
from wordline.search.space import settings
from wordline.search.verdict import judge

__all__ = ["Trial", "Tuned", "judge", "settings", "tune"]
