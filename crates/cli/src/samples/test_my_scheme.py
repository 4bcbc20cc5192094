"""What holds of my-scheme."""

from my_scheme import MyScheme

import wordline as wl

HOW = {"device": "fair-tlc", "workload": "bursty", "requests": 2000}


def test_it_keeps_the_rules_of_flash_on_random_drives():
    wl.check(MyScheme, cases=20)


def test_the_same_seed_gives_the_same_bits():
    one, two = (wl.run(scheme=MyScheme, **HOW).result_hash for _ in range(2))
    assert one == two


def test_its_parameter_does_something():
    # Where the class gets other parameters, name one of them here.
    runs = [wl.run(scheme=MyScheme(threshold=size), **HOW) for size in (0, wl.MiB)]
    assert len({r.result_hash for r in runs}) == 2
