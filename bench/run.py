#!/usr/bin/env python3
"""Measures speed and memory and prints bench/RESULTS.md: python3 bench/run.py build/release [--quick].

python3 bench/run.py build/release --hardening build/plain bench/RESULTS.md measures the engine of a hardened build beside that of
one without (cmake/harden.cmake), and prints RESULTS.md with that section in place of the old one.

Every number is the median of several runs of one process each; machines are noisy, so the spread stands beside it.
Instructions are counted by valgrind's callgrind, which does not depend on the machine's mood.
"""
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
PUBLISHED = "static:7,7,4-3,4-2-1,4-2-1,3-3,3-3,2-2-1-1-1/cedf"


def run(*command):
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(out.strip().splitlines()[-1])


def repeated(times, *command):
    return [run(*command) for _ in range(times)]


def spread(values, scale=1.0, digits=2):
    values = sorted(value / scale for value in values)
    return f"{statistics.median(values):.{digits}f} ({values[0]:.{digits}f} to {values[-1]:.{digits}f})"


def instructions_per_event(*command):
    """Inside Engine::run only; None without valgrind."""
    if not shutil.which("valgrind"):
        return None
    with tempfile.NamedTemporaryFile() as out:
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", "--toggle-collect=*Engine::run*",
             *command], check=True, capture_output=True, text=True)
        events = json.loads(result.stdout.strip().splitlines()[-1])["events"]
        total = re.search(r"^(?:totals|summary): (\d+)", open(out.name).read(), re.MULTILINE)
    return int(total.group(1)) / events


def machine():
    model = "unknown CPU"
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    return f"{model}, {os.cpu_count()} cores, Linux {platform.machine()}, {compiler}"


def compare_seconds(program, threads, days):
    command = [program, "compare", "--workload", "paper", "--days", str(days), "--seed", "1", "--threads", str(threads),
               "--policy", PUBLISHED, "--policy", "count/cedf", "--json"]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def environment_rows(build, times, quick):
    rows = []
    for kind, what, goal in (("placement", "placement on 8 GPUs, 20 slices, 88 inputs", "1"),
                             ("mean-field", "layouts of 8 GPUs every 5 events, `cedf`", ""),
                             ("one-gpu", "the layout of one GPU at every event, `cedf`", ""),
                             ("size", "placement by size on 8 GPUs, `count`", "")):
        steps = repeated(times, os.path.join(build, "bench_environment"), kind, "300000" if quick else "1000000")
        rows.append((f"environments: {what}, without a network, M steps/s",
                     spread([r["steps_per_s"] for r in steps], 1e6), goal, None))
    return rows


def train(build, recipe):
    """Seconds of a training on two threads, and whether it ended in the bytes that are shipped."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "policy.safetensors")
        start = time.perf_counter()
        subprocess.run([os.path.join(build, "smartmig"), "train", "--recipe", f"{DATA}/recipes/{recipe}.toml",
                        "--threads", "2", "--out", out], check=True, capture_output=True)
        seconds = time.perf_counter() - start
        shipped = f"{DATA}/{recipe}.safetensors"
        same = os.path.exists(shipped) and open(shipped, "rb").read() == open(out, "rb").read()
    return seconds, same


def training_rows(build, times, quick):
    steps = repeated(times, os.path.join(build, "bench_nn"), "ppo", "100000" if quick else "500000", "1", "64", "64")
    rows = [("PPO, networks 64-64, batch 4096, 10 epochs, k steps/s", spread([r["steps_per_s"] for r in steps], 1e3, 1),
             "60", None)]
    if quick:
        return rows  # The others take minutes.
    course = [train(build, "placement-course")[0] for _ in range(min(times, 3))]
    rows.append(("training: the course project's (500,000 steps, networks 256-256-128), 2 threads, s",
                 spread(course, digits=1), "under 60", None))
    seconds, same = train(build, "mean-field")
    rows.append((f"training: the recipe of `mean-field` from scratch ({'the' if same else 'NOT the'} shipped bytes), "
                 "2 threads, min", f"{seconds / 60:.1f}", "under 15", None))
    return rows


def decision_rows(build, times, quick):
    rows = []
    sizes = (8, 1_000, 1_000_000)
    # In turn, so that a slow minute of the machine is one of all sizes.
    turns = [[run(os.path.join(build, "bench_environment"), "decision", str(gpus))["us_per_decision"] for gpus in sizes]
             for _ in range(2 * times)]
    for gpus, micros in zip(sizes, zip(*turns)):
        rows.append((f"one decision of a `mean-field` network (64-64) on {gpus:,} GPUs, us", spread(micros), "under 20",
                     None))
    medians = [statistics.median(micros) for micros in zip(*turns)]
    rows.append(("the slowest of these, times the fastest", f"{max(medians) / min(medians):.2f}", "under 1.20", None))
    # At the 99th percentile of a run; the first decision, which finds an empty fleet, is not among them.
    for gpus, ready, decisions, scale, unit, goal in ((8, 50, 20_000, 1, "us", "under 200"),
                                                      (10_000, 100_000, 1_000, 1e3, "ms", "under 50")):
        for moves in ("free", "checkpoint"):
            results = repeated(times if gpus == 8 else min(times, 3), os.path.join(build, "bench_decision"), "prices",
                               str(gpus), str(ready), str(decisions // 10 if quick else decisions), moves)
            rows.append((f"one decision of `prices`, {gpus:,} GPUs, {ready:,} jobs ready, `--preemption {moves}`, "
                         f"99th percentile, {unit}", spread([r["p99_us"] for r in results], scale, 1), goal, None))
    return rows


def report_rows(program, times, quick):
    """The size of reports, and how long Chromium takes to open one."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.html")

        def size_row(*options):
            out = subprocess.run([program, "simulate", "--seed", "1", "--rate", "49", "--fleet", "20xA100-40GB", "--json", "--out",
                                  folder, *options], check=True, capture_output=True, text=True).stdout
            jobs = json.loads(out)["jobs"]
            limit = 3 if jobs < 100_000 else 10
            return (f"report of a run of {jobs:,} jobs on 20 GPUs, MB", f"{os.path.getsize(report) / 1e6:.2f}",
                    f"under {limit}", None)

        rows = [size_row()]
        opened = run("node", os.path.join(os.path.dirname(__file__), "../tests/browser/load_time.mjs"), report, str(times))
        rows.append(("the same, opened in Chromium, s", spread(opened["loaded_s"]), "under 1", None))
        rows.append(("the same, until its timeline is drawn, s", spread(opened["drawn_s"]), "under 1", None))
        if not quick:
            rows.append(size_row("--days", "100", "--policy", "static:4-2-1*20/first-fit", "--preemption", "none"))
        return rows


def server_rows(build, times):
    """Pages of the live interface through a socket; the slowest call of each run."""
    results = repeated(times, os.path.join(build, "bench_server"), "10000", "20")
    return [(f"`{page}` of 10,000 GPUs, {results[0][key]['bytes'] / 1e6:.1f} MB, the slowest of 20 calls, ms",
             spread([r[key]["most_ms"] for r in results]), "under 100", None)
            for page, key in (("/api/v1/fleet", "fleet"), ("/metrics", "metrics"))]


def live_rows(build, quick):
    """`smartmig serve` under load: clients, the controller and the simulated fleet share these cores."""
    gpus, queued, rate, seconds, streams = (1000, 10_000, 200, 5, 20) if quick else (10_000, 100_000, 1000, 60, 200)
    live, program = os.path.join(build, "bench_live"), os.path.join(build, "smartmig")
    rows = []
    for policy in ("smartmig", "greedy"):
        got = run(live, program, policy, str(gpus), str(queued), str(rate), str(seconds), str(streams))
        under = f"{gpus:,} GPUs, {queued:,} queued jobs, {rate:,} submissions/s for {seconds} s, {streams} event streams, `{policy}`"
        rows += [
            (f"{under}: View to journalled decision, 99th percentile, at most ms", f"{got['p99_at_most_ms']:g} (bound of its bucket; "
             f"{100 * got['within_50_ms']:.2f} % of {got['decisions']:,.0f} within 50)", "under 50", None),
            ("the same: submissions lost, doubled", f"{got['lost']}, {got['doubled']} of {got['submitted']:,}", "0, 0", None),
            ("the same: an answer to a submission, median and 99th percentile, ms",
             f"{got['submit_median_ms']:.1f}, {got['submit_p99_ms']:.1f}", "", None),
            ("the same: `/fleet` and `/metrics`, the slowest, ms", f"{got['fleet_most_ms']:.0f}, {got['metrics_most_ms']:.0f}", "under 100", None),
            ("the same: memory of the controller, GiB", f"{got['peak_mib'] / 1024:.2f}", "under 2", None),
        ]
        if policy == "smartmig":
            calm = run(live, program, policy, str(gpus), str(queued), str(rate), str(seconds), "0")
            rows.append(("the same without event streams: an answer to a submission, median and 99th percentile, ms",
                         f"{calm['submit_median_ms']:.1f}, {calm['submit_p99_ms']:.1f}", "", None))
    idle = run(live, program, "smartmig", str(gpus), "0", "0", "20", "0")
    rows.append((f"an idle controller of {gpus:,} GPUs, % of a core", f"{100 * idle['core_share']:.2f}", "under 1", None))
    return rows


HARDENING = "\n## What hardening costs\n"


def hardening_section(build, plain, times):
    """The two builds in turn, so that a slow minute of the machine is one of both; processor time, so that others do not count."""
    lines = [HARDENING,
             "Made by `script/bench hardening`: `bench_engine` compiled with and without cmake/harden.cmake, run in turn, "
             f"{times} times each; events for each second of processor time.\n",
             f"Machine: {machine()}.\n",
             "| what | before, M events/s | hardened, M events/s | speed kept, % | instructions an event, before | hardened |",
             "|---|---|---|---|---|---|"]
    for what, words, counted in (("the papers' day, 8 GPUs, `static/cedf`", ("day", "20"), ("day", "2")),
                                 ("no preemption, `first-fit`, 8 GPUs", ("fleet", "8", "1000000"), ("fleet", "8", "100000")),
                                 ("no preemption, `first-fit`, 1,000 GPUs", ("fleet", "1000", "1000000"), ("fleet", "1000", "100000"))):
        engines = [os.path.join(folder, "bench_engine") for folder in (plain, build)]
        turns = [[run(engine, *words)["events_per_cpu_s"] for engine in engines] for _ in range(times)]
        before, hardened = zip(*turns)
        kept = [100 * after / first for first, after in turns]
        instructions = [instructions_per_event(engine, *counted) for engine in engines]
        lines.append(f"| {what} | {spread(before, 1e6)} | {spread(hardened, 1e6)} | {spread(kept, digits=1)} | "
                     + " | ".join(f"{count:,.0f}" if count else "" for count in instructions) + " |")
    return "\n".join(lines) + "\n"


def print_with_hardening(build, plain, results):
    """Its section stands at the end of the results."""
    old = open(results).read()
    print(old.split(HARDENING)[0] + hardening_section(build, plain, 7), end="")


def main():
    build = sys.argv[1]
    if "--hardening" in sys.argv:
        print_with_hardening(build, *sys.argv[3:5])
        return
    quick = "--quick" in sys.argv
    times = 3 if quick else 7
    engine, reader, bound, program = (
        os.path.join(build, name) for name in ("bench_engine", "bench_reader", "bench_bound", "smartmig"))
    rows = []

    day = repeated(times, engine, "day", "60")
    day_instructions = instructions_per_event(engine, "day", "2")
    rows.append(("the papers' day, 8 GPUs, `static/cedf`, everything reassigned at each event, M events/s",
                 spread([r["events_per_s"] for r in day], 1e6), "2", day_instructions))

    sizes = [(8, 1_000_000, "8"), (64, 1_000_000, ""), (1_000, 2_000_000, "4"), (10_000, 4_000_000, ""),
             (100_000, 10_000_000, "1.5")]
    curve = []
    for gpus, jobs, goal in sizes:
        jobs = jobs // 10 if quick else jobs
        results = repeated(min(times, 3) if gpus > 1000 else times, engine, "fleet", str(gpus), str(jobs))
        counted = instructions_per_event(engine, "fleet", str(gpus), str(max(100_000, 2 * gpus)))
        curve.append((gpus, jobs, results, goal, counted))
        if goal:
            rows.append((f"no preemption, `first-fit`, records off, {gpus:,} GPUs, M events/s",
                         spread([r["events_per_s"] for r in results], 1e6), goal, counted))

    queue = run(engine, "queue", "10000000")
    rows.append(("memory with 10 M jobs waiting at once, bytes a job", f"{queue['bytes_per_job']:.0f}", "under 200", None))
    largest = max(r["peak_mib"] for r in curve[-1][2])
    rows.append((f"memory of {curve[-1][1]:,} jobs on 100,000 GPUs, GiB", f"{largest / 1024:.2f}", "under 8", None))
    reads = repeated(times, reader, "1000000")
    rows.append(("reading a job table, MB/s", spread([r["mb_per_s"] for r in reads], digits=0), "100", None))
    days = 40 if quick else 150
    # One beside the other, so that a slow spell of the machine hits both.
    pairs = [(compare_seconds(program, 1, days), compare_seconds(program, 2, days)) for _ in range(times)]
    rows.append(("`compare` on 2 threads, times one thread", spread([one / two for one, two in pairs]), "1.8", None))

    bounds = [repeated(times if gpus == 8 else 1, bound, str(gpus), "2") for gpus in ((8, 32) if quick else (8, 32, 80, 200))]
    rows.append(("ET bound of a papers' day (about 4,150 jobs, 8 GPUs), 2 threads, s",
                 spread([r["wall_s"] for r in bounds[0]]), "under 10", None))
    converged = run(bound, "8", "2", *(("4096", "300") if quick else ("16384", "600")))
    rows.append(("the same, of where the ascent converges (more and shorter stretches, four times the rounds), %",
                 f"{100 * bounds[0][0]['et'] / converged['et']:.2f}", "99", None))
    if not quick:
        rows.append((f"ET bound of {bounds[-1][0]['jobs']:,} jobs on 200 GPUs, 2 threads, min",
                     f"{bounds[-1][0]['wall_s'] / 60:.1f}", "under 10", None))
        rows.append(("its memory, GiB", f"{bounds[-1][0]['peak_mib'] / 1024:.2f}", "under 4", None))

    for rows_of in (environment_rows, training_rows, decision_rows):
        rows += rows_of(build, times, quick)

    rows += server_rows(build, times)
    rows += live_rows(build, quick)
    rows += report_rows(program, times, quick)

    print("# Measured speed and memory\n")
    print("Made by `script/bench`; do not edit. One core unless said; median of several runs (least to most).\n")
    print(f"Machine: {machine()}.\n")
    print("| what | measured | at least | instructions an event |")
    print("|---|---|---|---|")
    for what, measured, goal, counted in rows:
        print(f"| {what} | {measured} | {goal} | {f'{counted:,.0f}' if counted else ''} |")
    print("\n## Growth with the fleet\n")
    print("The same load for each GPU (.36 jobs a minute, layout 4-2-1), no preemption, `first-fit`.\n")
    print("| GPUs | jobs | M events/s | instructions an event | peak MiB |")
    print("|---|---|---|---|---|")
    for gpus, jobs, results, _, counted in curve:
        print(f"| {gpus:,} | {jobs:,} | {spread([r['events_per_s'] for r in results], 1e6)} | "
              f"{f'{counted:,.0f}' if counted else ''} | {max(r['peak_mib'] for r in results):,.0f} |")
    print("\n## Growth of the bound with the jobs\n")
    print("A day of the papers' load for each GPU; the search and the check, 2 threads.\n")
    print("| GPUs | jobs | s | ms a job | peak MiB |")
    print("|---|---|---|---|---|")
    for results in bounds:
        first = results[0]
        wall = statistics.median(r["wall_s"] for r in results)
        print(f"| {first['gpus']:,} | {first['jobs']:,} | {wall:.1f} | {1000 * wall / first['jobs']:.2f} | "
              f"{first['peak_mib']:,.0f} |")


if __name__ == "__main__":
    main()
