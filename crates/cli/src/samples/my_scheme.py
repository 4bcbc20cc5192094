"""# My scheme

## Source
A. Author, "Title of the paper", conference, year, section.

## Idea
Small writes go to SLC, all other data to the dense region.

## Algorithm
1. A host write of at most `threshold` goes to the cache, or where that has no room to
   the dense region.
2. All else, and what the cache passes on, goes to the dense region.

## Parameters
- `threshold`: the largest write that goes to SLC; default 16 KiB.

## Differs
Nothing from the paper, or what and why.

## Not modelled
What the paper has besides.

## Checked by
test_my_scheme.py.
"""

import wordline as wl


class MyScheme(wl.Scheme):
    """What it does, in a line."""

    threshold = wl.Param(16 * wl.KiB, "largest write that goes to SLC")

    def layout(self, drive: wl.DriveInfo) -> wl.Layout:
        return wl.Layout.slc_cache(drive)

    def place(self, p: wl.Parcel, view: wl.View) -> wl.Place:
        if p.is_host and p.bytes <= self.threshold:
            return wl.to("slc", "dense")  # (1)
        return wl.to("dense")  # (2)
