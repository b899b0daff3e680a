"""Measures what docs/results/learning.md shows and writes it; `script/results learning` calls this.

measure_learning.py PROGRAM FOLDER ROOT [--days N]. What each command printed is kept in FOLDER, under a name made of the command, the
program's bytes and the files it reads, so that a run that was stopped resumes where it was. ROOT is the repository.
"""
import argparse
import hashlib
import json
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path

PUBLISHED = "static:7,7,4-3,4-2-1,4-2-1,3-3,3-3,2-2-1-1-1/cedf"
COURSE = "static:7,7,4-3,4-3,4-2-1,4-2-1,2-2-2-1,2-2-2-1"
PLACERS = (
    "cedf edf met random earliest-finish largest-first smallest-first first-fit slowest-on-time shortest-remaining apparent-tardiness"
).split()
TWO_LEVELS = "mean-field:two-level-layouts/learned:two-level-placer"
FREE = ["--costs", "free"]
REAL = ["--costs", "real", "--preemption", "checkpoint"]
SEED = "1"  # Of every day that is reported.
CHOICE_SEED = "2"  # Of the days by which rivals are chosen.
CHOICE_DAYS = 5
RIVALS = 3  # So many of the registry are run on all days.

# What the best policy must be robust against.
CASES = [
    ("rate 8", ["--rate", "8"]),
    ("rate 12", ["--rate", "12"]),
    ("rate 16", ["--rate", "16"]),
    ("rate 24", ["--rate", "24"]),
    ("deadlines 2:4", ["--rate", "20", "--deadlines", "2:4"]),
    ("training share .5", ["--rate", "20", "--training-share", ".5"]),
    ("4 GPUs, rate 10", ["--rate", "10", "--fleet", "4xA100-40GB"]),
    ("64 GPUs, rate 160", ["--rate", "160", "--fleet", "64xA100-40GB"]),
    ("8 H100, as fast as A100", ["--rate", "20", "--fleet", "8xH100-80GB", "--speed-factor", "H100-80GB=1"]),
    ("4 A100 and 4 H100, as fast", ["--rate", "20", "--fleet", "4xA100-40GB+4xH100-80GB", "--speed-factor", "H100-80GB=1"]),
    ("estimates off by .3", ["--rate", "20", "--estimate-error", ".3"]),
]

SHIPPED = {  # Recipe: the files it makes.
    "mean-field": ["mean-field"],
    "one-gpu": ["one-gpu"],
    "placement": ["placement"],
    "two-level": ["two-level-layouts", "two-level-placer"],
    "smartmig": ["smartmig"],
}


class Runner:
    """Runs `smartmig` in the folder and keeps what it printed."""

    def __init__(self, program, folder):
        self.program = str(Path(program).resolve())
        self.folder = folder
        self.version = hashlib.sha256(Path(program).read_bytes()).hexdigest()
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, *arguments):
        shown = "smartmig " + " ".join(shlex.quote(word) if "*" in word else word for word in arguments)
        key = hashlib.sha256(f"{self.version} {shown}".encode())
        for name in sorted(set(re.findall(r"[\w.-]+\.(?:safetensors|toml)", shown))):
            if (self.folder / name).exists() and f"--out {name}" not in shown:
                key.update((self.folder / name).read_bytes())
        path = self.folder / f"{key.hexdigest()[:24]}.json"
        if not path.exists():
            print(shown, file=sys.stderr, flush=True)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([self.program, *arguments, "--json"], capture_output=True, text=True, cwd=self.folder)
            if done.returncode != 0:
                sys.exit(f"{shown}: {done.stderr}")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            kept = {"command": shown, "cpu_s": after.ru_utime - before.ru_utime, "result": json.loads(done.stdout)}
            aside = path.with_suffix(".part")
            aside.write_text(json.dumps(kept))
            aside.rename(path)
        return json.loads(path.read_text())

    def compare(self, days, policies, *options, seed=SEED):
        """Rows, and the command."""
        chosen = [word for policy in policies for word in ("--policy", policy)]
        kept = self.run("compare", "--workload", "paper", "--days", str(days), "--seed", seed, *options, *chosen)
        return kept["result"], kept["command"]

    def best_static(self, placer, *options):
        """The policy, and the command that found it. The days it was searched on are none of those reported."""
        kept = self.run("search-static", "--workload", "paper", "--days", "1", "--seed", SEED, "--placer", placer, *options)
        return kept["result"]["best"][0]["policy"], kept["command"]

    def train(self, name, recipe):
        """CPU seconds; NAME.safetensors (or two files) is in the folder."""
        (self.folder / f"{name}.toml").write_text(recipe)
        return self.run("train", "--recipe", f"{name}.toml", "--out", f"{name}.safetensors")["cpu_s"]


# --- text

def span(estimate, scale=1, digits=2):
    return f"{estimate['mean'] * scale:.{digits}f} [{estimate['low95'] * scale:.{digits}f}, {estimate['high95'] * scale:.{digits}f}]"


def change(row, key="et_pct"):
    found = row["vs_first"][key]
    return f"{found['mean']:+.1f} [{found['low95']:+.1f}, {found['high95']:+.1f}]"


def name_of(policy):
    return "published static/cedf" if policy == PUBLISHED else policy


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def et_rows(rows):
    return [
        [f"`{name_of(r['policy'])}`", span(r["et"], 1, 3), span(r["energy_wmin"], 1e-6, 3), span(r["avg_tardiness_s"], 1 / 60, 2),
         f"{r['late_pct']['mean']:.1f}", "" if i == 0 else change(r)]
        for i, r in enumerate(rows)
    ]  # fmt: skip


ET_HEADER = ["policy", "ET", "energy, M W·min", "tardiness, min", "late, %", "ET against the first, %"]


def commands(*shown):
    return "\n" + "".join(f"    {command}\n" for command in shown) + "\n"


# --- sections

def mean_field(run, days):
    static, searched = run.best_static("cedf", "--rate", "20", *FREE)
    text = "## Mean-field repartitioning\n"
    text += f"Started from all `7`; `{static}` is the best of `search-static`.\n"
    policies = [PUBLISHED, static, "mean-field/cedf"]
    rows, command = run.compare(days, policies, "--rate", "20", *FREE, "--energy-bound")
    text += commands(searched, command) + table(ET_HEADER, et_rows(rows))
    learned = rows[2]
    against, _ = run.compare(days, [static, "mean-field/cedf"], "--rate", "20", *FREE)
    text += (
        f"\nAgainst the best static layouts: {change(against[1])} %. SMART-MIG reports 18 % below its static layouts. Energy above the published bound: "
        f"{span(learned['energy_above_published_pct'], 1, 1)} %, beside its 27 %. Share of decisions that change a GPU: {learned['decisions']['changed_pct']:.0f} %.\n\n"
        "With a repartition taken off deadlines (`--costs paper`):\n"
    )
    rows, command = run.compare(days, policies, "--rate", "20", "--costs", "paper")
    return text + commands(command) + table(ET_HEADER, et_rows(rows))


FOUR = [PUBLISHED, "greedy", "count/cedf", "smartmig"]


def best_policy(run, days):
    text = "## The best policy, moves free\n"
    for rate in (8, 12, 16, 20, 24):
        rows, command = run.compare(days, FOUR, "--rate", str(rate), *FREE)
        rivals = []
        for rival in ("greedy", "count/cedf"):
            pair, _ = run.compare(days, [rival, "smartmig"], "--rate", str(rate), *FREE)
            rivals.append(f"against `{rival}` {change(pair[1])} %")
        text += f"\n### Rate {rate}\n" + commands(command) + table(ET_HEADER, et_rows(rows))
        text += f"\n`smartmig`: {', '.join(rivals)}.\n"
    rows, command = run.compare(days, FOUR, "--rate", "20", "--costs", "paper")
    return text + "\n### Rate 20, `--costs paper`\n" + commands(command) + table(ET_HEADER, et_rows(rows))


def bound_distance(run, days):
    rows, command = run.compare(days, FOUR, "--rate", "20", *FREE, "--bound")
    lines = [[f"`{name_of(r['policy'])}`", span(r["et"], 1, 3), span(r["bound"]["et_above_pct"], 1, 1)] for r in rows]
    text = f"## How far above the certified bound\nRate 20, moves free. No schedule has an ET below {rows[0]['bound']['et']:.4f} on average.\n"
    return text + commands(command) + table(["policy", "ET", "above the bound, %"], lines)


def registry():
    policies = [f"{partitioner}/{placer}" for partitioner in ("none", "count", "mean-field") for placer in PLACERS]
    return policies + [TWO_LEVELS, "greedy"]


def best_static_of_case(run, placer, options):
    """Where a day costs much the search is shorter; on 64 GPUs it begins at what is best on 8, eight times."""
    if "--training-share" in options and "real" in options:  # Long queues, and each job in them may displace another.
        return run.best_static(placer, *options, "--train-days", "4", "--budget", "800")[0]
    if "64xA100-40GB" not in options:
        return run.best_static(placer, *options)[0]
    costs = REAL if "real" in options else FREE
    eight = run.best_static(placer, "--rate", "20", *costs)[0].removeprefix("static:").split("/")[0]
    counted = [re.fullmatch(r"([^*]+)(?:\*(\d+))?", item).groups() for item in eight.split(",")]
    start = ",".join(f"{layout}*{8 * int(count or 1)}" for layout, count in counted)
    return run.best_static(placer, *options, "--train-days", "4", "--budget", "400", "--start", start)[0]


def rivals_of(run, options, choice_days=CHOICE_DAYS):
    """The best static layouts and the best of the registry, by a few other days."""
    static = [best_static_of_case(run, placer, options) for placer in ("cedf", "shortest-remaining")]
    other_board = any("H100" in option for option in options)  # The networks are for A100s alone.
    names = [policy for policy in registry() if not (other_board and policy.startswith("mean-field"))]
    rows, _ = run.compare(choice_days, names, *options, seed=CHOICE_SEED)
    order = sorted(rows, key=lambda row: row["et"]["mean"])
    return static, [row["policy"] for row in order[:RIVALS]]


def real_costs(run, days):
    options = ["--rate", "20", *REAL]
    static = [run.best_static(placer, *options)[0] for placer in ("cedf", "shortest-remaining")]
    rows, command = run.compare(days, ["smartmig", PUBLISHED, *static, *registry()], *options)
    order = [rows[0]] + sorted(rows[1:], key=lambda row: row["et"]["mean"])
    text = "## What hardware takes: `real` costs, checkpointing\nEvery policy of the registry, and the best static layouts of `search-static` with two placers, best first.\n"
    return text + commands(command) + table(ET_HEADER, et_rows(order))


def robustness(run, days):
    text = (
        "## Robustness\n`smartmig` against the best other policy of each case, which is the best on the reported days of: the best static layouts of `search-static` for the case with `cedf` and with `shortest-remaining`, and the "
        f"{RIVALS} best of the registry on {CHOICE_DAYS} days of seed {CHOICE_SEED} (one day for 64 GPUs, where the search for static layouts is shorter, too, and begins at those of 8 GPUs eight times; it is shorter as well for a training share of .5 with `real` costs). Below 0: `smartmig` is better.\n"
    )
    for kind, costs in (("free", FREE), ("real", REAL)):
        lines, shown = [], []
        for name, case in CASES:
            options = [*case, *costs]
            static, rivals = rivals_of(run, options, 1 if "64" in name else CHOICE_DAYS)
            rows, _ = run.compare(days, [*dict.fromkeys([*rivals, *static]), "smartmig"], *options)
            best = min(rows[:-1], key=lambda row: row["et"]["mean"])
            pair, command = run.compare(days, [best["policy"], "smartmig"], *options)
            lines.append([name, f"`{best['policy']}`", span(best["et"], 1, 3), span(pair[1]["et"], 1, 3), change(pair[1])])
            shown.append(command)
        text += f"\n### `--costs {kind}`" + (", `--preemption checkpoint`" if kind == "real" else "") + "\n"
        text += table(["case", "best other policy", "its ET", "`smartmig`", "against it, %"], lines) + commands(*shown)
    return text


def twice_daily(run, options):
    """The best two layouts a day, by other days than those reported."""
    layouts = ["7", "4-3", "4-2-1", "4-1-1-1", "3-3", "3-2-2", "3-2-1-1", "3-1-1-1-1", "2-2-2-1", "2-2-1-1-1"]
    pairs = [f"day-night:{day}={a}+{night}={b}/shortest-remaining"
             for day, night in ((5, 19), (8, 20)) for a in layouts for b in layouts if a != b]  # fmt: skip
    rows, _ = run.compare(20, pairs, *options, seed=CHOICE_SEED)
    return min(rows, key=lambda row: row["et"]["mean"])["policy"]


def one_gpu(run, days):
    options = ["--rate", "2.5", "--fleet", "1xA100-40GB", *FREE]
    static, searched = run.best_static("shortest-remaining", *options)
    text = (
        "## One GPU, rate 2.5\nAll with `shortest-remaining`. The two layouts a day are the best of 180 pairs on 20 days of "
        f"seed {CHOICE_SEED}, the static one is `search-static`'s.\n"
    )
    lines, shown = [], [searched]
    for rival, theirs in ((twice_daily(run, options), 26), (static, 31), ("none/shortest-remaining", 68)):
        pair, command = run.compare(days, [rival, "one-gpu/shortest-remaining"], *options)
        lines.append([f"`{rival}`", span(pair[0]["et"], 1, 3), span(pair[1]["et"], 1, 3), change(pair[1]), f"-{theirs}"])
        shown.append(command)
    return text + commands(*shown) + table(["against", "its ET", "learned", "ours, %", "published, %"], lines)


COURSE_OPTIONS = ["--rate", "20", "--deadlines", "2:4", "--preemption", "none", *FREE]


def placement(run, days):
    run.train("placement-course", (run.recipes / "placement-course.toml").read_text())
    placers = ["slowest-on-time", "earliest-finish", "learned", "learned:placement-course.safetensors"]
    rows, command = run.compare(days, [f"{COURSE}/{placer}" for placer in placers], *COURSE_OPTIONS)
    lines = [
        [f"`{placer}`", span(row["late_pct"], 1, 1), "" if i == 0 else change(row, "late_pct"), span(row["et"], 1, 3), span(row["energy_wmin"], 1e-6, 3)]
        for i, (placer, row) in enumerate(zip(placers, rows))
    ]
    return (
        "## Learned placement in the course project's setting\nIts layouts, deadlines 2:4, no preemption. It reports 37.9 % late for its network and 42.7 % for the best of its rules. "
        "`learned` is shipped; `placement-course` has that project's own network and steps.\n"
        + commands("smartmig train --recipe data/recipes/placement-course.toml --out placement-course.safetensors", command)
        + table(["placer", "late, %", "late against the first, %", "ET", "energy, M W·min"], lines)
    )


def reproduction(run, days):
    lines = []
    for recipe, files in SHIPPED.items():
        name = f"again-{recipe}"
        seconds = run.train(name, (run.recipes / f"{recipe}.toml").read_text())
        for file in files:
            made = (run.folder / f"{name}{file.removeprefix(recipe)}.safetensors").read_bytes()
            same = made == (run.recipes.parent / f"{file}.safetensors").read_bytes()
            lines.append([f"`{recipe}.toml`", f"`{file}.safetensors`", hashlib.sha256(made).hexdigest()[:16], "same" if same else "DIFFERENT", f"{seconds:.0f}"])
    return (
        "## Shipped policies from their recipes\n"
        + commands("smartmig train --recipe data/recipes/NAME.toml --out NAME.safetensors")
        + table(["recipe", "shipped as", "sha256, first half of", "bytes", "CPU s of the recipe"], lines)
    )


def edited(run, recipe, changes):
    """A shipped recipe with lines changed."""
    text = (run.recipes / f"{recipe}.toml").read_text()
    for old, new in changes:
        if not re.search(rf"^{re.escape(old)}$", text, re.M):
            sys.exit(f"{recipe}.toml: no line '{old}'")
        text = re.sub(rf"^{re.escape(old)}$", new, text, flags=re.M)
    return text


def variants(run, days, recipe, policy, first, options, rows, measure):
    """Each row: name in the folder, what it is, changes. Trains each and compares them with `first` and the shipped one."""
    specs, words = [policy.replace(":FILE", "")], ["shipped"]
    for name, what, changes in rows:
        run.train(name, edited(run, recipe, changes))
        specs.append(policy.replace("FILE", f"{name}.safetensors"))
        words.append(what + ": " + "; ".join(f"`{new}`".replace("\n", "`, `") for _, new in changes))
    found, command = run.compare(days, [first, *specs], *options)
    lines = [[word, span(row["et"], 1, 3), f"{row['late_pct']['mean']:.1f}", change(row, measure)] for word, row in zip(words, found[1:])]
    against = "ET" if measure == "et_pct" else "late jobs"
    return commands(command) + table([f"`{recipe}.toml`", "ET", "late, %", f"{against} against `{name_of(first)}`, %"], lines)


def ablations(run, days):
    text = "## What each part brings\nRecipes with lines changed, trained anew.\n\n### Drawing among the most likely, queue length, advice: `mean-field`\n"
    text += variants(
        run, days, "mean-field", "mean-field:FILE/cedf", PUBLISHED, ["--rate", "20", *FREE],
        [
            ("mf-keep-all", "all options drawn in use", [("keep = 3", "keep = 0")]),
            ("mf-keep-1", "the most likely option always", [("keep = 3", 'choice = "most-likely"')]),
            ("mf-keep-in-training", "the 3 most likely in training too", [("clip = 0.2", "clip = 0.2\nkeep_options = 3")]),
            ("mf-53", "53 inputs, without the queue's length", [("keep = 3", "keep = 3\nqueue_length = false")]),
            ("mf-no-advice", "no advice", [("advice = [2, 0.2]", "advice = 0")]),
            ("mf-no-advice-stay", "no advice, more stay", [("advice = [2, 0.2]", "advice = 0"), ("stay = 2", "stay = 6"),
                                                           ("learning_rate = [3e-3, 1e-4]", "learning_rate = [2e-3, 1e-4]")]),
            ("mf-one-rate", "rate 20 alone", [("rates = [20, 16, 18, 22]", "rates = [20]")]),
            ("mf-kl", "adaptive KL in place of clipping", [("clip = 0.2", 'objective = "penalised"')]),
        ], "et_pct",
    )  # fmt: skip
    text += "\n### Masking: `placement`\nWithout it in training, a slice that is taken stands for the first that is free; in use taken slices are masked all the same.\n"
    text += variants(
        run, days, "placement", f"{COURSE}/learned:FILE", f"{COURSE}/slowest-on-time", COURSE_OPTIONS,
        [("placement-no-mask", "no mask in training", [('choice = "most-likely"', 'choice = "most-likely"\nmask = false')])], "late_pct",
    )  # fmt: skip
    return text + foresight(run, days)


FORESIGHT = """[held]
price_now_load = 0
price_later_load = 0
price_later_trend = 0
horizon = 20
"""


def foresight(run, days):
    """`smartmig` searched anew with the knobs of foresight held where there is none."""
    run.train("no-foresight", (run.recipes / "smartmig.toml").read_text() + FORESIGHT)
    text = (
        "\n### Foresight: `smartmig`\nSearched anew with the price of slices the same now and later: no load of the past hour, no trend of the daily curve, no horizon.\n"
    )
    for costs in (FREE, REAL):
        rows, command = run.compare(days, ["smartmig", "smartmig:no-foresight.safetensors"], "--rate", "20", *costs)
        text += commands(command) + table(ET_HEADER, et_rows(rows))
    return text


def no_help(run, days):
    rows, command = run.compare(days, ["mean-field/cedf", TWO_LEVELS, "count/cedf"], "--rate", "20", *FREE)
    return (
        "## What was tried and did not help\n"
        "- Both levels learned: a learned placer under learned layouts, against the same kind of layouts with `cedf`, and the rule that advised in training:\n"
        + commands(command)
        + table(ET_HEADER, et_rows(rows))
        + "\n- In `mean-field`: drawing among the three most likely in place of all, clipping in place of adaptive KL and several rates in place of one, as the table of its parts shows; the advice, "
        "drawing at all and the queue's length are what matter.\n"
        "- In `smartmig`: foresight, as its table shows: it brings less than one percent.\n"
        "- In `placement`: an option to let a job wait. A job is charged when it is placed, so the best was never to place it.\n"
    )


OTHER_SEED = "3"


def other_days(run, days):
    """The headline again on days that nobody looked at while recipes were chosen."""
    one = ["--rate", "2.5", "--fleet", "1xA100-40GB", *FREE]
    static = run.best_static("shortest-remaining", *one)[0]
    rows = [
        ("et_pct", PUBLISHED, "mean-field/cedf", ["--rate", "20", *FREE]),
        ("et_pct", PUBLISHED, "smartmig", ["--rate", "20", *FREE]),
        ("et_pct", "count/cedf", "smartmig", ["--rate", "20", *FREE]),
        ("et_pct", "count/shortest-remaining", "smartmig", ["--rate", "20", *REAL]),
        ("et_pct", static, "one-gpu/shortest-remaining", one),
        ("late_pct", f"{COURSE}/slowest-on-time", f"{COURSE}/learned", COURSE_OPTIONS),
    ]
    lines, shown = [], []
    for measure, first, policy, options in rows:
        pair, command = run.compare(days, [first, policy], *options, seed=OTHER_SEED)
        what = "ET" if measure == "et_pct" else "late jobs"
        lines.append([f"`{policy}`", f"`{name_of(first)}`", " ".join(options), what, change(pair[1], measure)])
        shown.append(command)
    return (
        f"## The same on other days\nRecipes were chosen by their scores on the days above; these are {days} others.\n"
        + commands(*shown)
        + table(["policy", "against", "setting", "what", "change, %"], lines)
    )


SECTIONS = [mean_field, best_policy, bound_distance, real_costs, robustness, one_gpu, placement, other_days, reproduction, ablations, no_help]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("--days", type=int, default=100)
    parser.add_argument("--only", help="sections, by the names of the functions; the page says which are left out")
    options = parser.parse_args()
    run = Runner(options.program, options.folder)
    run.recipes = (options.root / "data/recipes").resolve()
    chosen = [section for section in SECTIONS if not options.only or section.__name__ in options.only.split(",")]
    text = (
        "# What was learned\n\nMade by `script/results learning`. Days that no training saw (training days have numbers from 1,000,000 on), "
        f"{options.days} of them and the same for every policy; intervals are 95 %, bootstrapped over days; differences are paired. ET and units are the papers'. "
        "[What is learned, and from what](../model/learning.md); [how `prices`, which these pages call `smartmig`, decides](../model/prices.md).\n\n"
    ) + "\n".join(section(run, options.days) for section in chosen)
    left_out = [section.__name__.replace("_", " ") for section in SECTIONS if section not in chosen]
    if left_out:
        text += f"\nNot measured this time: {', '.join(left_out)}.\n"
    (options.root / "docs/results/learning.md").write_text(text)


main()
