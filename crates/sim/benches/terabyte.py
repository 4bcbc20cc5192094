"""From nothing to a steady figure of a large drive: ``make bench CASES=terabyte MQSIM=DIR``.

Uniform random 4 KiB writes on a drive with 7 % of spare space. Wordline is begun with ``--initial
steady``, MQSim with its own preconditioning, and each then serves the requests of which a line has
the WAF. ``CASES="terabyte GIB"`` gives MQSim, which holds some 37 MiB for each GiB, another
size than 512 GiB; Wordline has 1 TB. Seconds are those of the processor, start included.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

#: Both have 16 dies of one plane, blocks of 256 pages of 4 KiB, and the same times.
CHANNELS, CHIPS, PAGES, PAGE = 8, 2, 256, 4096
SPARE = 0.07
QUEUE = 128
REQUESTS = 500_000

OURS = f"""
[device]
name = "terabyte"
description = "1 TB with pages of 4 KiB"
[medium.flash]
channels = {CHANNELS}
chips_per_channel = {CHIPS}
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = {{blocks}}
wordlines_per_block = {PAGES}
page = "4KiB"
bus = {{{{ rate = "1200MT/s", width = 1 }}}}
[medium.flash.slc]
read = "40us"
program = "200us"
erase = "3ms"
[mapping]
unit = "4KiB"
sector = "4KiB"
[capacity]
over_provisioning = "{SPARE:.0%}"
[gc]
trigger = "free_blocks < 1%"
"""

THEIR_DRIVE = {
    "Enabled_Preconditioning": "true",
    "HostInterface_Type": "NVME",
    "Caching_Mechanism": "SIMPLE",
    "Address_Mapping": "PAGE_LEVEL",
    "Ideal_Mapping_Table": "true",
    "Plane_Allocation_Scheme": "CWDP",
    "Overprovisioning_Ratio": f"{SPARE / (1 + SPARE):.4f}",
    # At 5 % it served 128 of 500 requests on 4 GiB.
    "GC_Exec_Threshold": "0.10",
    "GC_Block_Selection_Policy": "GREEDY",
    "Use_Copyback_for_GC": "false",
    "Preemptible_GC_Enabled": "false",
    "Flash_Channel_Count": CHANNELS,
    "Flash_Channel_Width": 1,
    "Channel_Transfer_Rate": 1200,
    "Chip_No_Per_Channel": CHIPS,
}
THEIR_FLASH = {
    "Flash_Technology": "SLC",
    **{f"Page_Read_Latency_{bit}SB": 40_000 for bit in "LCM"},
    **{f"Page_Program_Latency_{bit}SB": 200_000 for bit in "LCM"},
    "Block_Erase_Latency": 3_000_000,
    "Die_No_Per_Chip": 1,
    "Plane_No_Per_Die": 1,
    "Page_No_Per_Block": PAGES,
    "Page_Capacity": PAGE,
}
THEIR_LOAD = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "TURNED_OFF",
    "Channel_IDs": ",".join(map(str, range(CHANNELS))),
    "Chip_IDs": ",".join(map(str, range(CHIPS))),
    "Die_IDs": 0,
    "Plane_IDs": 0,
    # At 95 % it lost 9 of 500 requests on 4 GiB, at 100 % it stopped while it was filled.
    "Initial_Occupancy_Percentage": 90,
    "Working_Set_Percentage": 100,
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Read_Percentage": 0,
    "Address_Distribution": "RANDOM_UNIFORM",
    "Percentage_of_Hot_Region": 0,
    "Generated_Aligned_Addresses": "true",
    "Address_Alignment_Unit": PAGE // 512,
    "Request_Size_Distribution": "FIXED",
    "Average_Request_Size": PAGE // 512,
    "Variance_Request_Size": 0,
    "Seed": 798,
    "Average_No_of_Reqs_in_Queue": QUEUE,
    "Intensity": 32768,
    "Stop_Time": 0,
    "Total_Requests_To_Generate": REQUESTS,
}


def blocks(data: float) -> int:
    """Return the blocks of a plane of a drive with so many bytes of flash."""
    return round(data / (CHANNELS * CHIPS * PAGES * PAGE))


def elements(values: dict) -> str:
    """Return elements of MQSim's files."""
    return "".join(f"<{name}>{value}</{name}>\n" for name, value in values.items())


def spent(words: list, folder: Path) -> tuple[float, float]:
    """Run a command in a folder; return seconds of the processor and GiB held at most."""
    output_of = Path(folder, "output")
    with output_of.open("w") as output:
        process = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{words[0]}: status {status}; it printed:\n{output_of.read_text()[-2000:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / (1 << 20)


def ours(folder: Path) -> tuple[str, float]:
    """Run Wordline; return its line and its seconds."""
    text = OURS.format(blocks=blocks(1e12 * (1 + SPARE)))
    Path(folder, "terabyte.toml").write_text(text)
    words = [sys.executable, "-m", "wordline", "run", "--device", "terabyte.toml"]
    words += ["--scheme", "conventional", "--workload", f"uniform:bs=4KiB,read=0%,qd={QUEUE}"]
    words += ["--initial", "steady", "--requests", REQUESTS, "--json", "report.json"]
    seconds, held = spent([str(word) for word in words], folder)
    report = json.loads(Path(folder, "report.json").read_text())
    waf = report["waf"]["total"]
    return f"Wordline, 1 TB: {seconds:,.0f} s, {held:.1f} GiB held, WAF {waf:.2f}", seconds


def theirs(program: Path, gib: int, folder: Path) -> tuple[str, float]:
    """Run MQSim; return its line and its seconds."""
    flash = elements(THEIR_FLASH | {"Block_No_Per_Plane": blocks(gib << 30)})
    drive = elements(THEIR_DRIVE) + f"<Flash_Parameter_Set>\n{flash}</Flash_Parameter_Set>\n"
    Path(folder, "ssdconfig.xml").write_text(
        '<?xml version="1.0" encoding="us-ascii"?>\n<Execution_Parameter_Set>\n'
        "<Host_Parameter_Set>\n</Host_Parameter_Set>\n"
        f"<Device_Parameter_Set>\n{drive}</Device_Parameter_Set>\n</Execution_Parameter_Set>\n"
    )
    flow = "IO_Flow_Parameter_Set_Synthetic"
    Path(folder, "workload.xml").write_text(
        '<?xml version="1.0" encoding="us-ascii"?>\n<MQSim_IO_Scenarios><IO_Scenario>\n'
        f"<{flow}>\n{elements(THEIR_LOAD)}</{flow}>\n</IO_Scenario></MQSim_IO_Scenarios>\n"
    )
    seconds, held = spent([program, "-i", "ssdconfig.xml", "-w", "workload.xml"], folder)
    results = Path(folder, "workload_scenario_1.xml").read_text()
    served = int(re.search(r"<Request_Count>(\d+)", results)[1])
    programs = int(re.search(r'Issued_Flash_Program_CMD="(\d+)"', results)[1])
    waf = programs / served
    return f"MQSim, {gib} GiB: {seconds:,.0f} s, {held:.1f} GiB held, WAF {waf:.2f}", seconds


def main() -> None:
    """Run both, and print a line each."""
    program = os.environ.get("WORDLINE_MQSIM")
    gib = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(
            f"to a steady figure of uniform 4 KiB writes, {SPARE:.0%} spare, {REQUESTS:,} measured"
        )
        line, our_seconds = ours(folder)
        print(line, flush=True)
        if not program:
            print("not held beside MQSim: make bench CASES=terabyte MQSIM=DIR does")
            return
        line, their_seconds = theirs(Path(program), gib, folder)
        ratio = their_seconds / (gib * (1 << 30)) / (our_seconds / 1e12)
        print(f"{line}; {ratio:.1f} times as long for a byte of the drive")


if __name__ == "__main__":
    main()
