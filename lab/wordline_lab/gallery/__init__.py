"""Twelve pictures of results, for slides: ``python -m wordline_lab.gallery``.

`kept` draws earlier results in ``lab/results``; `runs` and `cut` make their own runs. `drawing` has
the common parts, `inks` the colors, and `page` lists the pictures.
"""
