"""Real drives: device files fitted to measurements, jobs that measure, and a choice of drives.

`measurements` and `steady_rows` read tables and fio's output, `curve` finds plateaus in a fill,
`sheet` is a device file with a source for each value, `bench` runs it in proportion, and
`steady_model` what rows of steady state measured. `probed` has what the jobs of a probe measured,
with a file for each law: `map_cache`, `write_buffer`, `rests`, `closed_network` and
`collection_unit`; `probe_page` shows it. `fit` (with `steady_fit` and `result`), `probe` and `pick`
are the commands.
"""
