"""Turns the measurements of script/results into docs/results/compare-paper-day.md, the table of README.md and docs/img/compare.svg,
or, with `bounds`, into docs/results/bounds.md.

write_results.py FOLDER ROOT [bounds]: FOLDER holds NAME.json (`smartmig compare --json`) and NAME.command for each measurement.
"""
import html
import json
import sys
from pathlib import Path

ENERGY_WEIGHT = 2e-7  # `smartmig compare`'s default, in the papers' units.

# Long specs by what they are; everything else is shown as written.
SHORT = {
    "static:7,7,4-3,4-2-1,4-2-1,3-3,3-3,2-2-1-1-1": "published static",
    "static:7,4-3*4,3-2-2*3": "better static",
    "static:7,7,4-3,4-3,4-2-1,4-2-1,2-2-2-1,2-2-2-1": "course static",
}


def short(policy):
    for spec, name in SHORT.items():
        policy = policy.replace(spec, name)
    return policy


def interval(estimate, scale, digits):
    low, high = estimate["low95"], estimate["high95"]
    mean = f"{estimate['mean'] * scale:.{digits}f}"
    return mean if low is None else f"{mean} ({low * scale:.{digits}f}–{high * scale:.{digits}f})"


def table(rows):
    lines = [
        "| policy | energy, M W·min | tardiness, min | late, % | ET | ET against the first |",
        "|---|---|---|---|---|---|",
    ]
    for i, row in enumerate(rows):
        change = row["vs_first"]["et_pct"]
        against = "" if i == 0 else f"{change['mean']:+.1f} % ({change['low95']:+.1f} to {change['high95']:+.1f})"
        cells = [
            f"`{short(row['policy'])}`",
            interval(row["energy_wmin"], 1e-6, 3),
            interval(row["avg_tardiness_s"], 1 / 60, 2),
            interval(row["late_pct"], 1, 1),
            interval(row["et"], 1, 3),
            against,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def svg(rows):
    """Bars of mean ET, its energy part and its tardiness part, with the interval; what leaves the scale is cut and labelled."""
    left, width, top, step, bar = 250, 520, 64, 34, 18
    limit = 1.6 * rows[0]["et"]["mean"]
    height = top + step * len(rows) + 62
    scale = width / limit
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 110} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">',
        f'<rect width="100%" height="100%" fill="#ffffff" rx="6"/>',
        '<text x="18" y="26" font-size="15" font-weight="bold" fill="#1b1f24">'
        "ET on the papers' day: 8 A100-40GB, about 4,150 jobs a day</text>",
        f'<text x="18" y="46" fill="#57606a">mean of {rows[0]["days"]} days and its 95 % interval; lower is better</text>',
    ]
    bottom = top + step * len(rows)
    tick = 0.5
    for i in range(int(limit / tick) + 1):
        x = left + i * tick * scale
        text.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#d8dee4"/>')
        text.append(f'<text x="{x:.1f}" y="{bottom + 17}" text-anchor="middle" fill="#57606a">{i * tick:.1f}</text>')
    for i, row in enumerate(rows):
        y = top + step * i + (step - bar) / 2
        mean, low, high = (row["et"][key] for key in ("mean", "low95", "high95"))
        energy = ENERGY_WEIGHT * row["energy_wmin"]["mean"] / (1 + ENERGY_WEIGHT)
        end = min(mean, limit)
        text.append(
            f'<text x="{left - 10}" y="{y + 14}" text-anchor="end" fill="#1b1f24">{html.escape(short(row["policy"]))}</text>'
        )
        text.append(f'<rect x="{left}" y="{y}" width="{energy * scale:.1f}" height="{bar}" fill="#2f6f9f"/>')
        text.append(
            f'<rect x="{left + energy * scale:.1f}" y="{y}" width="{(end - energy) * scale:.1f}" height="{bar}" fill="#e0a458"/>'
        )
        if mean > limit:
            # A white stroke across the bar says that it goes on.
            x = left + width - 26
            text.append(f'<path d="M{x} {y + bar + 3} l8 {-bar - 6}" stroke="#ffffff" stroke-width="5"/>')
            label = f"{mean:.1f}"
        else:
            middle = y + bar / 2
            text.append(
                f'<path d="M{left + low * scale:.1f} {middle} H{left + high * scale:.1f}" stroke="#1b1f24" stroke-width="1.5"/>'
            )
            for x in (low, high):
                text.append(f'<path d="M{left + x * scale:.1f} {middle - 4} v8" stroke="#1b1f24" stroke-width="1.5"/>')
            label = f"{mean:.2f}"
        x = left + max(end, min(high, limit)) * scale + 8
        change = "" if i == 0 or mean > limit else f' ({row["vs_first"]["et_pct"]["mean"]:+.0f} %)'
        # A white edge keeps the grid from crossing the number.
        halo = 'stroke="#ffffff" stroke-width="4" paint-order="stroke"'
        text.append(f'<text x="{x:.1f}" y="{y + 14}" fill="#1b1f24" {halo}>{label}{change}</text>')
    y = bottom + 32
    for x, colour, what in ((left, "#2f6f9f", "energy"), (left + 90, "#e0a458", "tardiness")):
        text.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/>')
        text.append(f'<text x="{x + 18}" y="{y + 11}" fill="#1b1f24">{what}</text>')
    text.append("</svg>")
    return "\n".join(text) + "\n"


def replace_block(path, name, block):
    """Puts `block` between the comments `<!-- NAME -->` and `<!-- end NAME -->`."""
    begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    before, found, rest = path.read_text().partition(begin)
    if not found:
        sys.exit(f"{path}: no {begin}")
    path.write_text(f"{before}{begin}\n{block}\n{end}{rest.partition(end)[2]}")


def percent(change):
    if change["mean"] is None:
        return "-"
    return f"{change['mean']:.1f} % ({change['low95']:.1f} to {change['high95']:.1f})"


def bounds_page(rows, commands):
    days = rows["bound-days"]
    bound = days[0]["bound"]
    over = bound["et_over_linearised"]
    text = (
        "# How far from the best possible\n\nMade by `script/results bounds`. [Why the bounds hold](../model/bounds.md). Intervals are 95 %, bootstrapped over days.\n"
        f"\n## The papers' day\n{days[0]['days']} days. The published energy bound is {bound['linearised_energy_j'] / 60e6:.3f} M W·min on average, the certified one "
        f"{bound['energy_j'] / 60e6:.3f}. The certified ET bound is {bound['et']:.4f}, {over['mean']:.3f} times the ET of the published bounds ({over['low']:.3f} to {over['high']:.3f} "
        f"by day; their tardiness program is out of reach for a day and counts 0).\n\n    {commands['bound-days']}\n\n"
        "| policy | ET | above the certified bound | tardiness, min | above its bound |\n|---|---|---|---|---|\n"
    )
    for row in days:
        text += (
            f"| `{short(row['policy'])}` | {interval(row['et'], 1, 3)} | {percent(row['bound']['et_above_pct'])} | "
            f"{interval(row['avg_tardiness_s'], 1 / 60, 2)} | {percent(row['bound']['tardiness_above_pct'])} |\n"
        )
    text += (
        "\n## The published comparison of tardiness\n`edf` on 4 GPUs cut 3-1-1-1-1, 8 jobs a minute, 50 runs of 50 jobs. SMART-MIG reports 34 % above its bound for mixed and 17 % for linear "
        "jobs, without the deadlines, the step of its program or the unit of its rate.\n\n"
        "The program is Cbc's to solve to within 5 % in 3 s; where it is not, what Cbc has proven by then counts, so that the optimum of the program may be higher.\n\n"
        "| jobs | tardiness, min | published bound, min | solved on | above it | reported | certified bound, min | above it |\n|---|---|---|---|---|---|---|---|\n"
    )
    for name, kind, theirs in (("bound-paper", "mixed", "34 %"), ("bound-linear", "linear", "17 %")):
        row = rows[name][0]
        found = row["bound"]
        text += (
            f"| {kind} | {interval(row['avg_tardiness_s'], 1 / 60, 2)} | {found['linearised_tardiness_s'] / 60:.3f} | {found['tardiness_solved_days']} of {row['days']} days | "
            f"{percent(found['tardiness_above_linearised_pct'])} | {theirs} | "
            f"{found['avg_tardiness_s'] / 60:.3f} | {percent(found['tardiness_above_pct'])} |\n"
        )
    return text + f"\n    {commands['bound-paper']}\n    {commands['bound-linear']}\n"


def main():
    folder, root = Path(sys.argv[1]), Path(sys.argv[2])
    rows = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
    commands = {path.stem: path.read_text() for path in folder.glob("*.command")}
    if sys.argv[3:] == ["bounds"]:
        (root / "docs/results/bounds.md").write_text(bounds_page(rows, commands))
        return
    days = rows["paper-day"][0]["days"]
    names = "\n".join(f"- {name}: `{spec}`" for spec, name in SHORT.items())
    sections = [
        ("paper-day", "The papers' rules", "Moves and preemption are free."),
        ("paper-costs", "A repartition takes 4 s off deadlines", "What the paper charges; policies that repartition often pay."),
        (
            "real-costs",
            "What hardware takes",
            "Slices take time to make and unmake, one at a time per GPU; only training jobs can be stopped, and save and restore.",
        ),
        (
            "course",
            "The course project's rules",
            "Relaxed deadlines, no preemption. That project published 42.7 % late for the best of its rules and 37.9 % for its learned placer.",
        ),
    ]
    text = (
        f"# The papers' day\n\nMade by `script/results {days}`: {days} independent days, the same for every policy; intervals are 95 %, "
        f"bootstrapped over days, and the last column is paired. Energy and tardiness are in the papers' units. Long policies by name:\n\n{names}\n"
    )
    for name, title, what in sections:
        text += f"\n## {title}\n{what}\n\n    {commands[name]}\n\n{table(rows[name])}\n"
    (root / "docs/results/compare-paper-day.md").write_text(text)
    (root / "docs/img/compare.svg").write_text(svg(rows["paper-day"]))
    replace_block(root / "README.md", "results", table(rows["paper-day"]))


main()
