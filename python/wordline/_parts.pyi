"""The parts of a report for type checkers, made of its schema by ``test_types.py``.

What is ``None`` where nothing was measured is ``X | Any``: a type checker knows what it is
otherwise, and lets those use it who know that it was measured.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordline._figures import Figures

class AfterLastRequest(Figures):
    copied_pages: int
    erases: int
    flash_total: Flash
    program_bytes: Figures
    simulated_s: float

class AfterWarmUp(Figures):
    read_latency_us: Estimate | Any
    read_mb_per_s: Estimate | Any
    requests: int
    simulated_s: float
    waf: Estimate | Any
    write_latency_us: Estimate | Any
    write_mb_per_s: Estimate | Any

class Balance(Figures):
    end: Holdings
    start: Holdings

class BegunSteady(Figures):
    by: str
    drift: float | Any
    expected_waf: float
    first_requests: int
    first_waf: float | Any
    free_blocks: float
    padding: float
    programmed_share: float
    residual: float | Any
    sampled_pages: int
    settled: bool
    timed_drive_writes: float
    timed_waf: float | Any
    untimed_drive_writes: float

class BlockFrame(Figures):
    at_ns: int
    cells: str
    live: str

class BlockKind(Figures):
    mode: str
    region: str
    state: str

class BlockMap(Figures):
    frames: list[dict[str, Any]]
    legend: list[dict[str, Any]]
    rows: list[dict[str, Any]]

class BlockRow(Figures):
    cells: int
    every: int
    first_block: int
    plane: int

class Capacity(Figures):
    changing: ChangingCapacity | Any
    live_bytes: int
    logical_bytes: int
    over_provisioning: float
    physical_bytes: int
    regions: list[dict[str, Any]]

class ChangingCapacity(Figures):
    conversions_refused: int
    least_usable_bytes: int
    usable_bytes: int

class Conditions(Figures):
    capacity_bytes: int
    flash_bytes: Figures
    initial: str
    over_provisioning: float
    ram_bytes: int

class DeviceInfo(Figures):
    changes: list[str]
    description: str
    name: str
    spelling: str

class Energy(Figures):
    by_cause: Figures
    nj_per_host_byte: float | Any
    total_j: float

class EnergyOf(Figures):
    erase_j: float
    program_j: float
    read_j: float
    transfer_j: float

class Estimate(Figures):
    half_width_95: float | Any
    mean: float
    sd: float | Any

class Flash(Figures):
    energy: Energy | Any
    erases: Figures
    errors: ReadErrors | Any
    map: MapOnFlash | Any
    multiplane: Multiplane | Any
    page_types: PageTypes | Any
    places: Figures
    program_bytes: Figures
    programs: Figures
    reads: Figures
    reads_cached: int | Any
    reads_from_ram: int
    regions: list[dict[str, Any]]
    suspensions: Figures
    windows: Windows | Any

class Holdings(Figures):
    buffered_bytes: int
    free_blocks: int
    slc_bytes: int

class Host(Figures):
    completed: int
    failed: Figures
    flush_requests: int
    multi_page_writes: int
    read_bytes: int
    read_requests: int
    requests: int
    trim_bytes: int
    trim_requests: int
    unplaced_bytes: int
    write_bytes: int
    write_page_bytes: int
    write_requests: int
    writes_paced: int | Any

class IdleTime(Figures):
    delay_us_max: float
    delay_us_mean: float | Any
    delayed_requests: int
    erases: int
    idle_s: float
    periods: int
    program_bytes: Figures
    worked_s: Figures

class JobActivity(Figures):
    flush: JobRequests | Any
    from_s: float
    group: int
    latency_shares: NDArray[np.float64]
    name: str
    options: Figures
    read: JobRequests | Any
    trim: JobRequests | Any
    until_s: float
    write: JobRequests | Any

class JobRequests(Figures):
    bytes: int
    deviation_ns: float
    failed: int
    max_ns: int
    mean_ns: float
    min_ns: int
    percentiles_ns: list[dict[str, Any]]
    requests: int

class Latencies(Figures):
    flush: Latency | Any
    read: Latency | Any
    trim: Latency | Any
    write: Latency | Any

class Latency(Figures):
    count: int
    max: float
    mean: float
    p50: float
    p90: float
    p99: float
    p999: float
    p9999: float

class LatencyCdf(Figures):
    read: NDArray[np.float64]
    write: NDArray[np.float64]

class LatencyParts(Figures):
    read: Figures
    write: Figures

class LifeUsed(Figures):
    max: float
    mean: float

class Lifetime(Figures):
    by_mode: Figures
    drive_writes_per_day: float | Any
    left: float | Any
    total_bytes_written: float | Any
    years: float | Any

class LostBlocks(Figures):
    acceleration: int
    bad: int
    blocks: int
    levelled: int
    retired: int
    worn_out: WornOut | Any

class MapOnFlash(Figures):
    cached_pages: int
    hit_share: float | Any
    hits: int
    journal_bytes: int | Any
    journal_peak_bytes: int
    lookups: int
    pages: int
    programs: int
    reads: int

class MapTable(Figures):
    bytes: int
    entries: int
    entry_bits: int
    name: str

class Memory(Figures):
    bytes_per_mapped_page: float | Any
    engine_bytes: int
    map_bytes: int
    tables: list[dict[str, Any]]

class ModeLifetime(Figures):
    endurance: int
    left: float | Any
    used: float

class Multiplane(Figures):
    commands: Figures
    operations: Figures
    share: float | Any

class OutOfReach(Figures):
    data_bytes: int
    reachable: float
    region: str
    setting: str
    value: str
    within_reach: str | Any

class PageTypes(Figures):
    as_asked: float | Any
    free_at_end: Figures
    programs: Figures
    writes_dominated_by: Figures

class Programs(Figures):
    program: int
    reprogram: int

class QueueActivity(Figures):
    depth: int | Any
    flush: JobRequests | Any
    from_s: float
    name: str
    read: JobRequests | Any
    trim: JobRequests | Any
    until_s: float
    weight: int | Any
    write: JobRequests | Any

class ReadErrors(Figures):
    host_pages: Figures
    refresh: Refreshed | Any
    retries: Figures
    retries_per_host_page: float | Any
    share_of_read_latency: float | Any
    uncorrectable: Figures

class Refreshed(Figures):
    blocks: Figures
    bytes: int

class RegionActivity(Figures):
    copy_backs: int
    erases: int
    mode: str
    name: str
    program_bytes: int
    program_operations: int
    programs: int
    reads: int
    reads_by_cause: Figures
    updates: NDArray[np.float64]
    whole_page_reads: int | Any

class RegionCapacity(Figures):
    blocks: int
    bytes: int
    mode: str
    name: str

class Replicas(Figures):
    figures: Figures
    runs: list[dict[str, Any]]

class SchemeInfo(Figures):
    colour: str | Any
    name: str
    title: str

class ShiftedRun(Figures):
    asked_points: float
    reached_points: float
    read_mean_us: float | Any
    read_p99_us: float | Any
    result_hash: str
    waf: float | Any
    write_mean_us: float | Any
    write_p99_us: float | Any

class Speed(Figures):
    flash_ops_per_s: float
    peak_rss_bytes: int | Any
    requests_per_s: float
    wall_s: float

class SteadyFrom(Figures):
    requests: int
    share: float
    time_s: float

class SteadyState(Figures):
    after: AfterWarmUp | Any
    criterion: str
    reached: str
    stationary: bool
    why: str

class Throughput(Figures):
    iops: float
    mb_per_s: float
    read_mb_per_s: float
    write_mb_per_s: float

class Timeline(Figures):
    bin_s: float
    bus_utilisation: NDArray[np.float64]
    die_utilisation: NDArray[np.float64]
    free_blocks: NDArray[np.float64]
    free_pages: Figures
    programmed_mb_per_s: NDArray[np.float64]
    read_latency_us_max: NDArray[np.float64]
    read_latency_us_mean: NDArray[np.float64]
    read_mb_per_s: NDArray[np.float64]
    read_requests: NDArray[np.float64]
    usable_bytes: NDArray[np.float64]
    waf: NDArray[np.float64]
    write_latency_us_max: NDArray[np.float64]
    write_latency_us_mean: NDArray[np.float64]
    write_mb_per_s: NDArray[np.float64]
    write_page_mb_per_s: NDArray[np.float64]
    write_requests: NDArray[np.float64]

class Utilisation(Figures):
    buses: NDArray[np.float64]
    buses_mean: float
    dies: NDArray[np.float64]
    dies_mean: float

class Waf(Figures):
    paper: float | Any
    parts: Figures
    per_host_byte: float | Any
    total: float
    without_pad: float

class Wear(Figures):
    blocks: int
    max: int
    mean: float
    min: int
    sigma: float

class WearHistogram(Figures):
    blocks: NDArray[np.float64]
    width: int

class Windows(Figures):
    host_at_slc_speed: float | Any
    interference: int
    reprogram_bytes: Figures
    reprograms_per_wordline: int
    slc_bytes: Figures

class WorkloadInfo(Figures):
    name: str

class WornOut(Figures):
    at_s: float
    drive_writes: float
    total_bytes_written: float
    years: float

class Parts:
    after_last_request: AfterLastRequest | Any
    balance: Balance | Any
    begun_steady: BegunSteady | Any
    block_map: BlockMap
    capacity: Capacity
    command: list[str]
    conditions: Conditions | Any
    config: Figures
    device: DeviceInfo
    flash: Flash
    hints: list[str]
    host: Host
    idle: IdleTime | Any
    jobs: list[dict[str, Any]]
    latency_parts_us: LatencyParts
    latency_us: Latencies
    life_used: LifeUsed | Any
    lifetime: Lifetime | Any
    lost_blocks: LostBlocks | Any
    memory: Memory
    out_of_reach: list[dict[str, Any]]
    queues: list[dict[str, Any]]
    result_hash: str
    schema: str
    scheme: SchemeInfo
    seed: int
    simulated_s: float
    speed: Speed
    steady_state: SteadyState | Any
    throughput: Throughput
    twin_sensitivity: list[dict[str, Any]]
    utilisation: Utilisation | Any
    version: str
    waf: Waf | Any
    wear: Figures
    wear_histogram: Figures
    without_effect: Figures
    workload: WorkloadInfo
