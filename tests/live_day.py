#!/usr/bin/env python3
"""The papers' day on a live controller: `smartmig serve` with a simulated fleet in accelerated time, every job submitted over
HTTP at its time, until all are over; then the journal is replayed, and the day compared with the simulator's on the same jobs, as
the controller got them.

    live_day.py PROGRAM [--days 1] [--hours 24] [--speed 1000] [--policy smartmig] [--faults] [--within PERCENT]

A day is chaotic: where one job comes half a second later, others run elsewhere, and ET ends some percent higher or lower. So a
policy is judged by the mean over several days, with the simulator's own spread beside it.

With --faults calls to the driver fail, hang and take long, boards are lost and reboot, slices come that the controller did not ask for, and
jobs fail, overrun and do not stop: then only what must hold in any case is checked. Exits with 1 where something does not."""
import argparse
import csv
import json
import queue
import random
import statistics
import subprocess
import sys
import threading
import time

from live_server import Server

FLEET = '8xA100-40GB'
SUBMITTERS = 4
CALL_TIMEOUT_S = 1
JITTER_S, JITTERED_DAYS = 0.5, 10


class Clock:
    """The fleet's clock, as of the answer that took the shortest time."""

    def __init__(self, server, speed):
        self.speed = speed
        best = None
        for _ in range(20):
            before = time.monotonic()
            now_s = server.summary()['now_s']
            took = time.monotonic() - before
            if best is None or took < best[0]:
                best = (took, now_s, before + took / 2)
        self.fleet_s, self.host_s = best[1:]

    def now(self):
        return self.fleet_s + (time.monotonic() - self.host_s) * self.speed

    def wait_for(self, fleet_s):
        time.sleep(max(0, (fleet_s - self.now()) / self.speed))


def submit_all(server, clock, jobs, begin_s):
    """Each at its time, by one of several threads."""
    waiting, troubles = queue.Queue(), []

    def work():
        while (job := waiting.get()) is not None:
            body = {'profile': job['profile'], 'work_s': float(job['p7g_s']), 'key': 'day ' + job['id'],
                    'deadline_s': float(job['deadline_s']) - float(job['submit_s'])}
            try:
                server.ask('POST', '/jobs', body)
            except Exception as trouble:  # Told by the main thread.
                troubles.append(f"job {job['id']}: {trouble}")

    threads = [threading.Thread(target=work) for _ in range(SUBMITTERS)]
    for thread in threads:
        thread.start()
    for job in jobs:
        clock.wait_for(begin_s + float(job['submit_s']))
        waiting.put(job)
    for _ in threads:
        waiting.put(None)
    for thread in threads:
        thread.join()
    if troubles:
        raise SystemExit(f'{len(troubles)} jobs were not accepted, the first: {troubles[0]}')


class Faults(threading.Thread):
    """Something goes wrong every so often, until it is told to stop; then all is well again."""

    KINDS = ('error', 'stays', 'delay', 'hang', 'done', 'reboot', 'lose', 'foreign', 'fail', 'overrun', 'ignore')
    CODES = ('in-use', 'insufficient-resources', 'no-permission', 'not-found', 'timeout', 'gpu-lost', 'unreachable', 'unknown')

    def __init__(self, server, every_s, seed):
        super().__init__()
        self.server, self.every_s = server, every_s
        self.random = random.Random(seed)
        self.stopped = threading.Event()
        self.made = {}
        self.lost = set()
        self.trouble = ''

    def run(self):
        try:
            while not self.stopped.wait(self.every_s):
                kind = self.random.choice(self.KINDS)
                self.made[kind] = self.made.get(kind, 0) + 1
                self.make(kind)
        except Exception as trouble:  # Told by the main thread.
            self.trouble = f'no more faults: {trouble!r}'
        self.server.tell_fleet({'op': 'clear'})
        for gpu in self.lost:
            self.server.tell_fleet({'op': 'return', 'gpu': gpu})

    def make(self, kind):
        gpu = self.random.randrange(8)
        call = self.random.choice(('create', 'destroy', 'start', 'stop', 'kill', 'read'))
        code = self.random.choice(self.CODES)
        tell = self.server.tell_fleet
        if kind == 'error':
            tell({'op': 'inject', 'call': call, 'gpu': gpu, 'code': code})
        elif kind == 'stays':
            tell({'op': 'inject', 'call': call, 'gpu': gpu, 'code': code, 'times': 50})
        elif kind == 'delay':
            tell({'op': 'inject', 'call': call, 'gpu': gpu, 'delay_s': 20, 'fleet_time': True, 'times': 3})
        elif kind == 'hang':
            # Longer than the controller waits. One that never came back would keep the GPU fenced for good.
            tell({'op': 'inject', 'call': call, 'gpu': gpu, 'delay_s': 1.5 * CALL_TIMEOUT_S})
        elif kind == 'done':
            tell({'op': 'inject', 'call': call, 'gpu': gpu, 'code': 'timeout', 'done': True})
        elif kind == 'reboot':
            tell({'op': 'reboot', 'gpu': gpu})
        elif kind == 'lose' and gpu in self.lost:
            self.lost.discard(gpu)
            tell({'op': 'return', 'gpu': gpu})
        elif kind == 'lose':
            self.lost.add(gpu)
            tell({'op': 'lose', 'gpu': gpu})
        elif kind == 'foreign':
            tell({'op': 'foreign-create', 'gpu': gpu, 'slot': self.random.randrange(7)})
        elif kind == 'fail':
            tell({'op': 'behave', 'fail_at': self.random.random(), 'times': 5})
        elif kind == 'overrun':
            tell({'op': 'behave', 'overrun': 1 + self.random.random(), 'times': 5})
        elif kind == 'ignore':
            tell({'op': 'behave', 'ignore_stop_s': 120, 'times': 3})


def wait_until_over(server, stuck_s, faults):
    """Until no job is left; with faults, operators do what they would."""
    last, since = None, time.monotonic()
    while True:
        seen = server.summary()
        left = seen['queued'] + seen['running']
        if left == 0:
            return seen
        if left != last:
            last, since = left, time.monotonic()
        if time.monotonic() - since > stuck_s:
            for gpu in server.ask('GET', '/fleet')['gpus']:
                print(gpu['index'], gpu['state'], gpu['layout'], gpu['target'], gpu['trouble'], [(s['state'], s['job']) for s in gpu['slices']])
            raise SystemExit(f'{left} jobs have made no progress for {stuck_s} s')
        if faults and time.monotonic() - since > 2:
            for gpu in server.ask('GET', '/fleet')['gpus']:
                server.ask('POST', f"/gpus/{gpu['index']}/adopt", {})
                server.ask('POST', f"/gpus/{gpu['index']}/uncordon", {})
            time.sleep(1)
        time.sleep(0.05)


def part_of_day(program, folder, hours, seed):
    table = folder + '/day.csv'
    subprocess.run([program, 'workload', 'generate', '--rate', '20', '--seed', str(seed), '--out-file', table],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(table, newline='') as file:
        return [row for row in csv.DictReader(file) if float(row['submit_s']) < hours * 3600]


def moved(day, submit_s):
    """The same jobs at other times, each with as long until its deadline."""
    rows = []
    for row in day:
        at_s = submit_s(row)
        rows.append({**row, 'submit_s': f'{at_s:.6f}', 'deadline_s': f"{at_s + float(row['deadline_s']) - float(row['submit_s']):.6f}"})
    return sorted(rows, key=lambda row: float(row['submit_s']))


def simulated(program, folder, day, policy):
    table = folder + '/as_submitted.csv'
    with open(table, 'w', newline='') as file:
        writer = csv.DictWriter(file, day[0].keys(), lineterminator='\n')
        writer.writeheader()
        writer.writerows(day)
    ran = subprocess.run([program, 'simulate', '--jobs', table, '--fleet', FLEET, '--policy', policy, '--costs', 'real',
                          '--preemption', 'checkpoint', '--json'], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


def own_spread(program, folder, day, policy, et):
    """How far the simulator ends from itself, in percent, where each job comes up to half a second later."""
    off = []
    for seed in range(JITTERED_DAYS):
        draw = random.Random(seed)
        other = simulated(program, folder, moved(day, lambda row: float(row['submit_s']) + draw.random() * JITTER_S), policy)
        off.append(100 * (other['et'] / et - 1))
    return statistics.pstdev(off)


def measure(jobs, first, last, model):
    """ET of jobs that are done, from the energy at both ends; the last look came some time after the last job."""
    end_s = max(job['end_s'] for job in jobs)
    energy_j = last['energy_j'] - first['energy_j'] - last['power_w'] * max(0, last['now_s'] - end_s)
    late = [max(0, job['end_s'] - job['deadline_s']) for job in jobs]
    tardiness_s = sum(late) / len(late)
    # As in ET of the simulated day.
    joule = (model['et'] - model['avg_tardiness_s'] / 60) / model['energy_j']
    return {'energy_j': energy_j, 'avg_tardiness_s': tardiness_s, 'late_pct': 100 * sum(x > 0 for x in late) / len(late),
            'et': tardiness_s / 60 + joule * energy_j}


def one_day(options, seed):
    """What is wrong with it, and its ET, the simulator's, the spread of that, and the simulator's on the day as it was drawn; with
    faults there are none."""
    server = Server(options.program, '--fleet', FLEET, '--speed', str(options.speed), '--policy', options.policy, '--costs', 'real',
                    '--preemption', 'checkpoint', config=f'[serve]\ncall_timeout_s = {CALL_TIMEOUT_S}\n' if options.faults else '')
    try:
        day = part_of_day(options.program, server.state, options.hours, seed)
        clock = Clock(server, options.speed)
        faults = Faults(server, options.every, seed) if options.faults else None
        first = server.summary()
        begin_s = first['now_s'] + 0.05 * options.speed
        if faults:
            faults.start()
        submit_all(server, clock, day, begin_s)
        if faults:
            faults.stopped.set()
            faults.join()
        last = wait_until_over(server, 60, faults)
        jobs = server.jobs()
    finally:
        server.end()
    states = {state: sum(job['state'] == state for job in jobs) for state in sorted({job['state'] for job in jobs})}
    said = subprocess.run([options.program, 'replay', server.state], capture_output=True, text=True)
    if options.keep:
        subprocess.run([options.program, 'backup', server.state, options.keep], check=True)
    what = f"{options.hours:g} h at {options.speed:g} times real time with {options.policy}, seed {seed}"
    print(f"{what}: {len(jobs)} jobs, {', '.join(f'{count} {state}' for state, count in states.items())}")
    troubles = [] if said.returncode == 0 else ['the replay differs']
    print('replay: ' + (said.stdout or said.stderr).strip())
    if len(jobs) != len(day) or set(states) - {'done', 'failed', 'cancelled'}:
        troubles.append(f'{len(day)} jobs were submitted')
    ets = None
    if faults:
        troubles += [faults.trouble] if faults.trouble else []
        print('faults: ' + ', '.join(f'{count} {kind}' for kind, count in sorted(faults.made.items())))
    elif set(states) != {'done'}:
        troubles.append('not every job is done')
    else:
        generated_et = simulated(options.program, server.state, day, options.policy)['et']
        came_s = {job['key']: job['submit_s'] - begin_s for job in jobs}
        day = moved(day, lambda row: came_s['day ' + row['id']])
        model = simulated(options.program, server.state, day, options.policy)
        live = measure(jobs, first, last, model)
        for name, key, digits in (('energy', 'energy_j', 0), ('mean tardiness', 'avg_tardiness_s', 2), ('late jobs', 'late_pct', 2), ('ET', 'et', 4)):
            print(f'{name}: {live[key]:,.{digits}f}, simulator {model[key]:,.{digits}f}, {100 * (live[key] / model[key] - 1):+.2f} %')
        print(f"ET where every job comes at its time to the microsecond: simulator {generated_et:.4f}, {100 * (live['et'] / generated_et - 1):+.2f} %")
        ets = live['et'], model['et'], own_spread(options.program, server.state, day, options.policy, model['et']), generated_et
    server.clean_up()
    return troubles, ets


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--days', type=int, default=1, help='Of the seeds from --seed on')
    parser.add_argument('--hours', type=float, default=24)
    parser.add_argument('--speed', type=float, default=1000)
    parser.add_argument('--policy', default='smartmig')
    parser.add_argument('--faults', action='store_true')
    parser.add_argument('--every', type=float, default=0.5, help='Seconds between two faults')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--within', type=float, help='Percent that the mean ET may be off')
    parser.add_argument('--keep', help='Copy the journal of the last day to this file')
    options = parser.parse_args()

    troubles, ets = [], []
    for seed in range(options.seed, options.seed + options.days):
        wrong, et = one_day(options, seed)
        troubles += [f'seed {seed}: {trouble}' for trouble in wrong]
        ets += [et] if et else []
    if ets:
        live, model = (statistics.mean(et[i] for et in ets) for i in (0, 1))
        off = 100 * (live / model - 1)
        text = f'mean ET of {len(ets)} days: {live:.4f}, simulator {model:.4f}, {off:+.2f} %'
        if len(ets) > 1:
            # Of the mean of paired differences, two standard errors to either side.
            error = 200 * statistics.stdev(et[0] - et[1] for et in ets) / len(ets) ** 0.5 / model
            text += f' [{off - error:+.2f}, {off + error:+.2f}]'
        spread = statistics.mean(et[2] for et in ets)
        print(f'{text}; the simulator where each job comes up to {JITTER_S:g} s later: {spread:.2f} % on a day (standard deviation)')
        generated = statistics.mean(et[3] for et in ets)
        print(f'where every job comes at its time to the microsecond: simulator {generated:.4f}, {100 * (live / generated - 1):+.2f} %')
        if options.within and abs(off) > options.within:
            troubles.append(f'ET is {abs(off):.2f} % off, more than {options.within:g} %')
    for trouble in troubles:
        print('WRONG: ' + trouble)
    return 1 if troubles else 0


if __name__ == '__main__':
    sys.exit(main())
