"""Writes examples/week.sacct, the trace of the tutorial: three working days of a made-up team on whole A100s and a few MIG slices, as
`sacct --parsable2` prints them. The same bytes every time.

python3 examples/make_week.py > examples/week.sacct
"""
import datetime
import random

JOBS_A_DAY = 170
# Submits by hour of day: a working day with a lull at noon and a few jobs left for the night.
BY_HOUR = [1, 1, 0, 0, 0, 0, 1, 3, 8, 12, 14, 11, 6, 10, 14, 14, 12, 8, 5, 4, 4, 3, 3, 2]
# What is asked for, how often, and the run time in minutes at the 50 % point with its spread (sigma of the logarithm).
KINDS = [
    ("gres/gpu=1", 12, 15, 1.0),  # Tuning and evaluation on a whole GPU.
    ("gres/gpu=1", 4, 70, 0.7),  # Training.
    ("gres/gpu:a100_2g.10gb=1", 3, 20, 0.8),  # Notebooks.
    ("gres/gpu:a100_3g.20gb=1", 2, 30, 0.8),
]
SEVERAL = ("gres/gpu=4", 240)  # Twice a day, on several GPUs at once.


def stamp(day, seconds):
    time = datetime.datetime(2025, 3, 4) + datetime.timedelta(days=day, seconds=seconds)
    return time.strftime("%Y-%m-%dT%H:%M:%S")


def main():
    draw = random.Random(7)
    jobs = []
    for day in range(3):
        for _ in range(JOBS_A_DAY):
            hour = draw.choices(range(24), BY_HOUR)[0]
            tres, _, minutes, sigma = draw.choices(KINDS, [kind[1] for kind in KINDS])[0]
            length = max(20, round(60 * minutes * 2.718281828 ** draw.gauss(0, sigma)))
            jobs.append((day, 3600 * hour + draw.randrange(3600), tres, min(length, 12 * 3600)))
        for _ in range(2):
            jobs.append((day, 3600 * 17 + draw.randrange(3600), SEVERAL[0], 60 * SEVERAL[1]))
    jobs.sort()
    print("JobID|Partition|Submit|ElapsedRaw|State|AllocTRES")
    for i, (day, seconds, tres, length) in enumerate(jobs):
        print(f"{1000 + i}|gpu|{stamp(day, seconds)}|{length}|COMPLETED|cpu=8,{tres},mem=32G,node=1")


main()
