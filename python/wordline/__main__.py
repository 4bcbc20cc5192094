"""``python -m wordline``."""

from wordline._cli import main

main()
