#!/usr/bin/env python3
"""Every verb of the live controller, as an operator types it, against a controller of its own.

    live_verbs.py PROGRAM

A verb is followed by what it must print: a pattern for its whole output. Those that change something are rehearsed first. Then
the controller as a service: stopped and started again while a job runs, beside a second one, with a journal that was changed,
without what it needs, with what `doctor` finds, without its journal, with tokens that change."""
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from live_server import Server


class Operator:
    def __init__(self, program, server):
        self.program, self.server = program, server
        self.wrong = []

    def run(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, timeout=60)

    def ask(self, line):
        verb, *words = line.split()
        return self.run(verb, '--server', self.server.url, *words)

    def says(self, line, pattern, status=0):
        """`smartmig LINE` prints what fits the pattern, and ends with the status."""
        ran = self.ask(line)
        printed = ran.stdout + ran.stderr
        if ran.returncode != status or not re.fullmatch(pattern, printed.strip(), re.DOTALL):
            self.wrong.append(f'smartmig {line}: exit {ran.returncode}, expected {status} and {pattern!r}:\n{printed}')
        return printed.strip()

    def comes_to(self, line, pattern, status=0):
        """The same, after some time."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            ran = self.ask(line)
            if ran.returncode == status and re.fullmatch(pattern, (ran.stdout + ran.stderr).strip(), re.DOTALL):
                return
            time.sleep(0.05)
        self.says(line, pattern, status)


def changes(operator, line, pattern):
    """A rehearsal changes nothing: afterwards the same can be done."""
    verb, *words = line.split()
    operator.says(' '.join([verb, '--dry-run', *words]), '.*')
    return operator.says(line, pattern)


def work_through(operator):
    says, comes_to = operator.says, operator.comes_to
    comes_to('status', r'2xA100-40GB with count/cedf: 0 jobs wait, 0 run, \d+ W\n.*')
    operator.says('submit --profile bert-training --work 3000 --deadline 9000 --dry-run', 'it would be accepted')
    job = says('submit --profile bert-training --work 3000 --deadline 9000 --key a -- train.py --epochs 3', r'\d+')
    says('submit --profile bert-training --work 3000 --deadline 9000 --key a -- train.py --epochs 3', job)
    says('submit --profile bert-training --work 3001 --deadline 9000 --key a', r'.*another request.*', 1)
    says('submit --profile bert-trainin --work 3000 --deadline 9000', r".*profile.*bert-training.*", 2)
    says('submit --profile bert-training --work 50m --deadline 2h30m --memory 8G --dry-run', 'it would be accepted')
    says('submit --profile bert-training --work 0-00:50:00 --deadline 9000 --key b --dry-run', 'it would be accepted')
    says('submit --profile bert-training --work 50x --deadline 2h', r"smartmig: --work: found '50x', expected a length of time [^\n]+", 2)
    says('submit --profile bert-training --work 50m --deadline 2h --memory 8Q', r"smartmig: --memory: found '8Q', expected a size [^\n]+", 2)
    for rehearsal in ('', ' --dry-run'):
        says('submit --profile bert-training --work 1h --deadline 2h --memory 100G' + rehearsal,
             r'smartmig: memory_mib: the job fits no slice of this fleet: it needs 102400 MiB, and the largest slice has '
             r'\d+ MiB \(7g\.40gb of A100-40GB\)', 2)
    comes_to('status ' + job, r'.*\nstate +running.*')
    says('status ' + job, r'.*command +\["train.py","--epochs","3"\].*')
    says('explain ' + job, r'it is running on MIG-\S+ of GPU-\S+\ntakes [^\n]+ there, [^\n]+(larger slice runs it|would take [^\n]+: [^\n]+)')
    says('jobs', rf'JOBID  PROFILE +NAME +USER +ST +TIME +TO_DEADLINE +SLICE\(REASON\)\n +{job}  bert-training +local +R +\S+ +\S+ +GPU \d \dg\.\d+gb')
    says('jobs --state PD', r'JOBID [^\n]+')
    says('jobs --state R,queued --owner local --profile bert-training', rf'.*\n +{job} .*')
    says('jobs --owner nobody', r'JOBID [^\n]+')
    says('jobs --state runing', r"smartmig: --state: found 'runing'; did you mean 'running'\?", 2)
    says('jobs --json', r'\{\n  "jobs": \[.*"slice_profile": "\dg\.\d+gb".*')
    says('plan', r'.+')
    says('plan --policy greedy', r'.+')
    says('plan --policy gredy', r".*greedy.*", 2)
    says('export', r'version: v1\nmig-configs:\n  smartmig:.*')
    changes(operator, 'freeze', r'the controller is frozen: .*; running jobs continue')
    comes_to('status', r'.*, frozen\n.*')
    waiting = says('submit --profile resnet50-inference --work 30 --deadline 900', r'\d+')
    says('explain ' + waiting, r'.*frozen.*it runs on slices of 1g\.5gb to 7g\.40gb.*')
    says('jobs --state PD', rf'.*\n +{waiting}  resnet50-inference .* PD +0:00 .* \(frozen\)')
    changes(operator, 'unfreeze', r'.*')
    comes_to('status ' + waiting, r'.*\nstate +(running|done).*')
    operator.ask('drain 1')
    says('drain 1 --wait --timeout 1m', r'GPU-\S+ gets no new jobs[^\n]*\n.*GPU-\S+ has no jobs left.*')
    changes(operator, 'uncordon 1', r'.*')
    for verb, state in (('cordon', 'cordoned'), ('uncordon', 'up'), ('drain', 'draining'), ('uncordon', 'up')):
        changes(operator, verb + ' 1', r'.*')
        comes_to('status', rf'.*\n +1  {state} .*')
    says('cordon 7', r'.*', 2)
    changes(operator, 'adopt 0', r'.*')
    changes(operator, 'power-cap 900', r'.*900.*')
    says('power-cap -5', r'.*watts.*', 2)
    changes(operator, 'power-cap 0', r'.*')
    comes_to('status', r'.*\n +1  up +\S+ +0 of .*')
    changes(operator, 'freeze', r'.*')
    changes(operator, 'apply 1=2-2-2-1', r'.*2-2-2-1.*')
    comes_to('status', r'.*\n +1  up +2-2-2-1 .*')
    says('apply 1=9', r'.*', 2)
    changes(operator, 'rollback 1', r'GPU-\S+: undoes the change from \S+ to 2-2-2-1 by local by hand [^\n]+ ago\n.*')
    says('explain gpu:1', r'GPU-\S+ is up, cut into .*its last change was made by local by hand .*')
    says('apply --hold', r'smartmig: apply: --hold needs layouts: .*', 2)
    changes(operator, 'apply --hold 1=2-2-2-1', r'GPU-\S+ goes from \S+ to 2-2-2-1\n.*the layout is held: .*`smartmig unhold 1`')
    comes_to('status', r'.*\nGPUs      2 up; the layouts of 1 are held\n.*\n +1  up +2-2-2-1 +0 of 4 slices busy, held by local')
    says('status --held', r'.*\n +1  up +2-2-2-1 [^\n]+')
    says('status --state fenced', r'.*\nno GPU matches')
    says('explain gpu:1', r'.*local has held its layout for .*')
    changes(operator, 'unhold 1', r'GPU-\S+ was held by local; .*')
    says('unhold 1', r'GPU-\S+ is not held')
    says('status --held', r'.*\nno GPU matches')
    changes(operator, 'recover', r'.*')
    changes(operator, 'unfreeze', r'.*')
    changes(operator, 'cancel ' + job, f'job {job} is being cancelled: its run is told to end')
    comes_to('status ' + job, r'.*\nstate +cancelled.*')
    says('explain ' + job, r'it is cancelled\ncancelled by .*')
    says('explain 777', r'.*777 is not in the system.*', 2)
    says('cancel ' + job, r'.*', 1)
    says('doctor --state ' + operator.server.state, r'.*every row has its checksum.*')


def stop_and_go_on(operator, program):
    """A job that runs does not notice that its controller is stopped and started again."""
    server = operator.server
    job = operator.says('submit --profile bert-training --work 1500 --deadline 9000', r'\d+')
    operator.comes_to('status ' + job, r'.*\nstate +running.*')
    second = operator.run('serve', '--state', server.state, '--listen', '127.0.0.1:0')
    if second.returncode == 0 or second.stderr.count('\n') != 1:
        operator.wrong.append(f'a second serve: exit {second.returncode}: {second.stdout}{second.stderr}')
    if (status := server.end()) != 0:
        operator.wrong.append(f'serve: exit {status} at SIGTERM')
    operator.server = Server(program, '--policy', 'none/edf', state=server.state)
    operator.comes_to('status ' + job, r'.*\nstate +done.*')
    operator.says('status ' + job, r'attempts +1\n.*')


def refuse_a_changed_journal(operator):
    """One event is another: the replay says so in a line."""
    copy = operator.server.state + '/changed.db'
    operator.run('backup', operator.server.state, copy)
    with sqlite3.connect(copy) as journal:
        journal.execute("UPDATE events SET at_us = at_us + 1 WHERE kind = 'ended'")
    journal.close()
    ran = operator.run('replay', copy)
    if ran.returncode == 0 or ran.stderr.count('\n') != 1:
        operator.wrong.append(f'replay of a changed journal: exit {ran.returncode}: {ran.stdout}{ran.stderr}')


def serve_and_stop(program):
    server = Server(program, '--fleet', '1xA100-40GB', '--speed', '200', '--policy', 'none/edf', stop_fleet=False)
    operator = Operator(program, server)
    try:
        stop_and_go_on(operator, program)
        refuse_a_changed_journal(operator)
    finally:
        operator.server.end()
        server.clean_up()
    return operator.wrong


def serve_what_is_there(program):
    """A state folder keeps its fleet after that was ended, whatever the default is."""
    server = Server(program, '--fleet', '1xH100-80GB', '--policy', 'none/edf')
    operator = Operator(program, server)
    try:
        server.end()
        operator.server = Server(program, '--policy', 'none/edf', state=server.state)
        operator.says('status', r'1xH100-80GB with none/edf: .*')
    finally:
        operator.server.end()
        server.clean_up()
    return operator.wrong


def fleet_runs(server):
    with socket.socket(socket.AF_UNIX) as channel:
        return channel.connect_ex(server.state + '/fleet/fleet.sock') == 0


def keep_its_fleet(program):
    """The fleet outlives the controller, which says so; another fleet or speed is refused, the same is not."""
    said = ['--fleet', '1xA100-40GB', '--speed', '200']
    server = Server(program, *said, '--policy', 'none/edf', stop_fleet=False)
    operator = Operator(program, server)
    try:
        server.end()
        last = server.process.stdout.read()
        if not re.fullmatch(r'smartmig stopped; running jobs continue\. The simulated fleet still runs \(process \d+\); '
                            rf'`smartmig fleet --state {server.state}/fleet --stop` stops it\n', last):
            operator.wrong.append(f'serve ended with: {last}')
        for running in (True, False):
            for other, line in ((['--speed', '100'], r"smartmig: --speed: found 100, expected 200, which \S+ has; [^\n]+\n"),
                                (['--fleet', '2xA100-40GB'], r"smartmig: --fleet: found '2xA100-40GB', expected 1xA100-40GB, [^\n]+\n")):
                ran = operator.run('serve', '--state', server.state, '--listen', '127.0.0.1:0', *other)
                if ran.returncode != 2 or not re.fullmatch(line, ran.stderr) or ran.stdout:
                    operator.wrong.append(f'serve {other}, running {running}: exit {ran.returncode}: {ran.stdout}{ran.stderr}')
            if fleet_runs(server) != running:
                operator.wrong.append(f'after a refusal the fleet runs: {not running}')
            ran = operator.run('fleet', '--state', server.state + '/fleet', '--stop')
            if ran.returncode != 0 or ran.stdout or ran.stderr:
                operator.wrong.append(f'fleet --stop: exit {ran.returncode}: {ran.stdout}{ran.stderr}')
        for again in (said, []):
            operator.server.end()
            operator.server = Server(program, *again, '--policy', 'none/edf', state=server.state)
            if operator.server.summary()['speed'] != 200:
                operator.wrong.append(f'serve {again}: the speed is another')
    finally:
        operator.server.end()
        server.clean_up()
    return operator.wrong


def refuse_to_serve(program):
    """What the server cannot have is told of in a line, before anything is made."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        with open(folder + '/tokens', 'w') as file:
            file.write('op operate token-0123456789abcdef\n')
        os.chmod(folder + '/tokens', 0o644)
        port = f'127.0.0.1:{taken.getsockname()[1]}'
        for options in (['--token-file', folder + '/tokens'], ['--token-file', folder + '/none'],
                        ['--tls-cert', folder + '/none', '--tls-key', folder + '/none'], ['--listen', port]):
            if '--listen' not in options:
                options += ['--listen', '127.0.0.1:0']
            ran = subprocess.run([program, 'serve', '--state', folder + '/state', *options],
                                 capture_output=True, text=True, timeout=60)
            if ran.returncode != 2 or ran.stderr.count('\n') != 1 or os.path.exists(folder + '/state'):
                wrong.append(f'serve {options}: exit {ran.returncode}: {ran.stdout}{ran.stderr}')
    return wrong


def find_what_is_wrong(program):
    """`doctor` beside a controller that is not well, a line for each thing."""
    server = Server(program, '--fleet', '2xA100-40GB', '--speed', '200', '--policy', 'none/edf')
    operator = Operator(program, server)
    doctor = 'doctor --state ' + server.state
    try:
        operator.says(doctor, r'(good [^\n]+\n)*good [^\n]+')
        os.chmod(server.state, 0o755)
        operator.says(doctor, r'BAD  state folder [^\n]+chmod 700[^\n]+\n(good [^\n]+\n?)+', 1)
        os.chmod(server.state, 0o700)
        operator.says('freeze', r'.*')
        operator.comes_to('status', r'.*, frozen\n.*')
        operator.says(doctor, r'(good [^\n]+\n)+BAD  decisions +frozen: `smartmig unfreeze`[^\n]+', 1)
        operator.says('unfreeze', r'.*')
        server.tell_fleet({'op': 'lose', 'gpu': 1})
        operator.comes_to('status', r'.*\n +1  lost .*')
        operator.says(doctor, r'(good [^\n]+\n)+BAD  GPU GPU-\S+ +[^\n]+lost[^\n]*', 1)
        copy = server.state + '/damaged'
        os.mkdir(copy, 0o700)
        operator.run('backup', server.state, copy + '/journal.db')
        with sqlite3.connect(copy + '/journal.db') as journal:
            journal.execute('UPDATE settings SET value = value || 1')
        journal.close()
        operator.says('doctor --state ' + copy, r'.*\nBAD  journal +[^\n]+checksum[^\n]*\nBAD  simulated fleet .*', 1)
        operator.says('doctor --state ' + copy + '/none', r'BAD  state folder +\S+ is not there: .*', 1)
    finally:
        server.end()
        server.clean_up()
    operator.says('doctor', r'BAD  controller +[^\n]+', 1)
    return operator.wrong


def miss_a_journal(program):
    """One that is gone while a run of it continues: `doctor` says what to do, and `recover` is it."""
    server = Server(program, '--fleet', '1xA100-40GB', '--speed', '200', '--policy', 'none/edf', stop_fleet=False)
    operator = Operator(program, server)
    try:
        job = operator.says('submit --profile bert-training --work 90000 --deadline 99000', r'\d+')
        operator.comes_to('status ' + job, r'.*\nstate +running.*')
        server.end()
        os.remove(server.state + '/journal.db')
        operator.server = Server(program, '--policy', 'none/edf', state=server.state)
        operator.says('doctor', r'BAD  controller [^\n]+\nBAD  fleet +the journal is gone: [^\n]+\n'
                                r'BAD  decisions [^\n]+`smartmig recover`', 1)
        operator.says('apply', r'smartmig: .*say recover.*', 1)
        changes(operator, 'recover', r'the journal is gone: [^\n]+; job 1 was accepted and is not in it\n'
                                     r'the controller decides again\n1 slice is foreign and stays so.*')
        operator.says('doctor', r'(good [^\n]+\n?)+')
    finally:
        operator.server.end()
        server.clean_up()
    return operator.wrong


def raise_an_alarm(program):
    """Small slices alone make every job late: after a day of the fleet's clock the modelled policy is better."""
    server = Server(program, '--fleet', '2xA100-40GB', '--speed', '20000', '--policy', 'static:1-1-1-1-1-1-1*2/edf')
    operator = Operator(program, server)
    alarm = r'over the last day the modelled policy none/edf was better than static:\S+: ET \S+ against \S+'
    seen = threading.Event()

    def submit():
        """Three jobs an hour, until the alarm was seen: a day takes 4 s, and one without jobs would end it."""
        submitted = 0
        while not seen.wait(0.02):
            while submitted < server.summary()['now_s'] / 1200:
                server.ask('POST', '/jobs', {'profile': 'bert-training', 'work_s': 600, 'deadline_s': 900})
                submitted += 1

    submitter = threading.Thread(target=submit)
    try:
        operator.says('status', r'(?!.*\nalarm ).*')
        submitter.start()
        operator.comes_to('status', rf'.*\nalarm     {alarm}\n.*')
        operator.comes_to('doctor', rf'good [^\n]+\nBAD  policy +{alarm}', 1)
    finally:
        seen.set()
        if submitter.ident is not None:
            submitter.join()
        server.end()
        server.clean_up()
    return operator.wrong


def take_in_tokens(program):
    """A changed token file counts from SIGHUP on, and not before."""
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name in ('all', 'old', 'new'):
            files[name] = f'{folder}/{name}'
            with open(os.open(files[name], os.O_CREAT | os.O_WRONLY, 0o600), 'w') as file:
                file.write(f"op operate {'new' if name == 'new' else 'old'}-token-0123456789\n")
        server = Server(program, '--fleet', '1xA100-40GB', '--policy', 'none/edf', '--token-file', files['all'])
        operator = Operator(program, server)
        try:
            operator.says('status', r'smartmig: \S+ asks for a token: .*--token-file', 1)
            operator.says('status --token-file ' + files['old'], r'1xA100-40GB .*')
            shutil.copyfile(files['new'], files['all'])
            operator.says('status --token-file ' + files['old'], r'1xA100-40GB .*')
            server.process.send_signal(signal.SIGHUP)
            operator.comes_to('status --token-file ' + files['new'], r'1xA100-40GB .*')
            operator.says('status --token-file ' + files['old'], r'smartmig: \S+/old: the token is none of .*', 1)
            os.chmod(files['all'], 0o644)
            shutil.copyfile(files['old'], files['all'])
            server.process.send_signal(signal.SIGHUP)
            time.sleep(0.2)
            operator.says('status --token-file ' + files['new'], r'1xA100-40GB .*')
        finally:
            server.end()
            server.clean_up()
    return operator.wrong


def main():
    program = sys.argv[1]
    server = Server(program, '--fleet', '2xA100-40GB', '--speed', '200', '--policy', 'count/cedf')
    operator = Operator(program, server)
    try:
        work_through(operator)
        copy = server.state + '/copy.db'
        ran = operator.run('backup', server.state, copy)
        if ran.returncode != 0 or ran.stdout != f'{copy}: a whole copy\n':
            operator.wrong.append(f'backup: {ran.stdout}{ran.stderr}')
        ran = operator.run('replay', copy)
        if ran.returncode != 0:
            operator.wrong.append(f'replay of the copy: {ran.stdout}{ran.stderr}')
    finally:
        server.end()
        server.clean_up()
    wrong = operator.wrong
    for part in (serve_and_stop, serve_what_is_there, keep_its_fleet, refuse_to_serve, find_what_is_wrong, miss_a_journal,
                 raise_an_alarm, take_in_tokens):
        wrong += part(program)
    print('\n'.join(wrong) or 'every verb does what it says')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
