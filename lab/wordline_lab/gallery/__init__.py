"""Twelve pictures of what Wordline shows, for slides: ``python -m wordline_lab.gallery``.

`kept` draws what earlier evaluations have in ``lab/results``; `runs` and `cut` run what they show.
`drawing` is what all have in common, `inks` their colors, and `page` lists them.
"""
