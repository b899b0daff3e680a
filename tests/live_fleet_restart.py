#!/usr/bin/env python3
"""The simulated fleet's process is killed under a running `smartmig serve`.

    live_fleet_restart.py PROGRAM

While the fleet is away `/readyz` answers 503 and says why, and so do `status`, `doctor` and the metrics. The controller starts
the fleet again, jobs come to their ends, none is lost or run twice, and `/readyz` answers 200 again. A lock that this test holds keeps the
new process from serving until all of that was seen. Limits are ten or more times what the documents promise."""
import fcntl
import http.client
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from live_server import Server, wait_for

RECONNECT_S = 2  # docs/operations/simulated-fleet.md
REPORT_S = 5     # docs/operations/alarms.md


def get(server, path):
    connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=60)
    connection.request('GET', path)
    response = connection.getresponse()
    return response.status, response.read().decode()


def fleet_process(server):
    """The process that serves the fleet's socket."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.connect(server.state + '/fleet/fleet.sock')
        return struct.unpack('3i', channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


def submit(server, count):
    return [server.ask('POST', '/jobs', {'profile': 'bert-training', 'work_s': 300, 'deadline_s': 60000})['id'] for _ in range(count)]


def check_books(server, jobs):
    """By the fleet's own ledger each job ran until its end once, and the journal says the same."""
    wait_for('all jobs are done', lambda: all(job['state'] == 'done' for job in server.jobs()), 240)
    ended = {}
    for row in server.tell_fleet({'op': 'audit', 'after': 0, 'limit': 10000})['ok']['runs']:
        ended.setdefault(row[1].split('.')[0], []).append(row[6])
    for job in jobs:
        outcomes = ended.get(job, [])
        if outcomes.count('ended') != 1 or outcomes[-1] != 'ended':
            raise SystemExit(f'job {job}: its runs {outcomes}, expected one that ended, and that one last')
    if {job['id'] for job in server.jobs()} != set(jobs):
        raise SystemExit('the journal has other jobs than were accepted')


def waits_for_lock(lock):
    """Whether this process waits for the lock: the kernel lists those that wait with an arrow."""
    inode = os.fstat(lock.fileno()).st_ino
    with open('/proc/locks') as locks:
        return any(fields[1] == '->' and fields[5] == str(os.getpid()) and fields[6].endswith(f':{inode}')
                   for fields in map(str.split, locks))


def kill_fleet_with_its_lock_held(server):
    """Kills the fleet, and lets no other process serve its folder until the file that is returned is closed."""
    lock = open(server.state + '/fleet/fleet.lock', 'r+')
    waiting = threading.Thread(target=lambda: fcntl.flock(lock, fcntl.LOCK_EX), daemon=True)
    waiting.start()
    wait_for('this test is first in line for the lock', lambda: waits_for_lock(lock))
    os.kill(fleet_process(server), signal.SIGKILL)
    waiting.join(timeout=60)
    if waiting.is_alive():
        raise SystemExit('the lock of a fleet that was killed is not free')
    return lock


def main():
    program = sys.argv[1]
    server = Server(program, '--fleet', '2xA100-40GB', '--policy', 'static:3-3,3-3/cedf', '--speed', '200')
    try:
        wait_for('ready at first', lambda: get(server, '/readyz')[0] == 200)
        jobs = submit(server, 6)
        wait_for('jobs run', lambda: server.summary()['running'] > 0)
        before = fleet_process(server)

        lock = kill_fleet_with_its_lock_held(server)
        wait_for('503 of /readyz', lambda: get(server, '/readyz')[0] == 503, 10 * REPORT_S)
        text = get(server, '/readyz')[1]
        if 'events are not received' not in text:
            raise SystemExit(f'/readyz does not say why: {text}')
        fleet = server.summary()
        if fleet['events_received'] or 'events are not received' not in fleet['trouble']:
            raise SystemExit(f'the fleet does not say so: {fleet}')
        if 'smartmig_ready 0' not in get(server, '/metrics')[1] or 'smartmig_events_received 0' not in get(server, '/metrics')[1]:
            raise SystemExit('the metrics do not say so')
        for verb in ('status', 'doctor'):
            said = subprocess.run([program, verb, '--server', server.url], capture_output=True, text=True, timeout=60)
            if 'events are not received' not in said.stdout + said.stderr:
                raise SystemExit(f'{verb} does not say so: {said.stdout}{said.stderr}')
        jobs += submit(server, 2)  # They are accepted and wait.
        lock.close()

        # The keeper's pause has doubled with each try in vain.
        wait_for('the fleet is back', lambda: is_served(server), 10 * 30)
        back = time.monotonic()
        wait_for('200 of /readyz', lambda: get(server, '/readyz')[0] == 200, 20 * RECONNECT_S)
        print(f'ready {time.monotonic() - back:.2f} s after the fleet was back')
        if fleet_process(server) == before:
            raise SystemExit('the same process serves the fleet')
        check_books(server, jobs)

        # The lock is free: the fleet comes back by itself, at once.
        jobs += submit(server, 4)
        os.kill(fleet_process(server), signal.SIGKILL)
        wait_for('the fleet is back again', lambda: is_served(server), 20 * RECONNECT_S)
        check_books(server, jobs)
        wait_for('200 of /readyz', lambda: get(server, '/readyz')[0] == 200, 20 * RECONNECT_S)

        # So does a fleet that is told to end: a controller needs its fleet.
        os.kill(fleet_process(server), signal.SIGTERM)
        wait_for('the fleet is back after SIGTERM', lambda: is_served(server), 10 * 30)
    finally:
        status = server.end()
    if status != 0:
        raise SystemExit(f'serve ended with status {status}')
    if is_served(server):
        raise SystemExit('--stop-fleet: the fleet still runs')
    replayed = subprocess.run([program, 'replay', server.state], capture_output=True, text=True, timeout=120)
    if replayed.returncode != 0:
        raise SystemExit(f'replay: {replayed.stdout}{replayed.stderr}')
    server.clean_up()


def is_served(server):
    try:
        fleet_process(server)
        return True
    except OSError:
        return False


if __name__ == '__main__':
    main()
