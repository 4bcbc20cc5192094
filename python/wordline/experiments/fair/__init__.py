"""The fair table: every scheme on two common drives."""

from wordline.experiments.fair.figures import FIGURES

__all__ = ["FIGURES"]
