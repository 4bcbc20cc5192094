"""The process of its own in which a candidate is judged."""

from wordline.search.verdict import main

main()
