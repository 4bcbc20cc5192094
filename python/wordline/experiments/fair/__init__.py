"""The fair table: every scheme on two common drives."""

from wordline.experiments.fair.figures import FIGURES
from wordline.experiments.fair.words import summary

__all__ = ["FIGURES", "summary"]
