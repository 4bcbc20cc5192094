"""Search for parameters, and judge what a search has found: ``wordline.tune``, ``wordline.judge``.

`space` says where a search looks, `score` how good a candidate is, `tune` searches, and `judge`
holds a candidate to drives, seeds and workloads that the search has not seen.
"""

from wordline.search.judge import judge
from wordline.search.tune import Trial, Tuned, tune

__all__ = ["Trial", "Tuned", "judge", "tune"]
