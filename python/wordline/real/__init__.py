"""Real drives: device files fitted to measurements, jobs that measure, and a choice of drives.

`measurements` reads tables and fio's output, `curve` finds plateaus in a fill, `sheet` is a device
file with a source for each value, `bench` runs it in proportion. `fit` (with `result` and `show`),
`probe` and `pick` are the commands.
"""
