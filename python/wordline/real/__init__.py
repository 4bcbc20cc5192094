"""Real drives: device files fitted to measurements, jobs that measure, and a choice of drives.

`measurements` and `steady_rows` read tables and fio's output (`tables` either), `curve` finds
plateaus in a fill, `sheet` is a device file with a source for each value, `bench` runs it in
proportion, and `steady_model` what rows of steady state measured. `fit` (with `steady_fit`,
`result` and `show`), `probe` and `pick` are the commands; `judged` holds the built-in drives to
their rows.
"""
