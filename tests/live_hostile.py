#!/usr/bin/env python3
"""What strangers do to a live controller, each thing on a controller of its own: requests that two readers could read in two ways,
names that a terminal would obey, guesses of tokens, clients that read nothing, files that others can read or write.

    live_hostile.py PROGRAM"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

from live_server import Server, end_with_the_test, wait_for

JOB = {'profile': 'bert-training', 'work_s': 3000, 'deadline_s': 9000}


class Checks:
    def __init__(self, program):
        self.program = program
        self.wrong = []

    def expect(self, what, found, expected):
        if found != expected:
            self.wrong.append(f'{what}: found {found!r}, expected {expected!r}')

    def run(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, timeout=60)

    def refused_serve(self, *words):
        """Exit status and standard error of a `serve` that must end by itself; one that does not is ended."""
        ran = subprocess.Popen([self.program, 'serve', '--listen', '127.0.0.1:0', '--stop-fleet', *words], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, preexec_fn=end_with_the_test)
        try:
            _, said = ran.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            ran.terminate()
            _, said = ran.communicate(timeout=60)
            said += 'and it had to be ended\n'
        return ran.returncode, said


def raw(port, data, patience=60):
    """The status of the answer to bytes sent as they are; nothing where none comes in time."""
    with socket.create_connection(('127.0.0.1', port)) as connection:
        connection.settimeout(patience)
        connection.sendall(data)
        try:
            answer = connection.recv(4096)
        except TimeoutError:
            return None
    return int(answer.split(b' ')[1]) if answer else None


def post(server, path, text, headers=None):
    """Status and JSON of a POST whose body is sent as it is."""
    connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=60)
    connection.request('POST', '/api/v1' + path, text, {'Content-Type': 'application/json', **(headers or {})})
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def odd_requests(checks):
    server = Server(checks.program, '--fleet', '2xA100-40GB', '--policy', 'none/edf')
    try:
        host = b'Host: localhost\r\n'
        for what, data, status in (
                ('HTTP/1.0', b'GET /healthz HTTP/1.0\r\n' + host + b'\r\n', 505),
                ('a POST without a length', b'POST /api/v1/freeze HTTP/1.1\r\n' + host + b'Content-Type: application/json\r\n\r\n', 411),
                ('lines that end with LF', b'GET /healthz HTTP/1.1\nHost: localhost\n\n', 400),
                ('one line that ends with LF', b'GET /healthz HTTP/1.1\r\nHost: localhost\n\r\n', 400)):
            checks.expect(what, raw(server.port, data), status)
        text = json.dumps(JOB)
        for what, path, body, field in (
                ('a field twice', '/jobs', text[:-1] + ', "work_s": 1}', 'work_s'),
                ('a comment', '/jobs', text + '// now', ''),
                ('half a MiB', '/jobs', text[:-1] + ', "memory_mib": 1.5}', 'memory_mib'),
                ('a GPU under two numbers', '/apply', '{"layouts": {"0": "7", "00": "4-3"}}', 'gpu'),
                ('a GPU twice', '/apply', '{"layouts": {"0": "7", "0": "4-3"}}', '0')):
            status, answer = post(server, path, body)
            checks.expect(what, (status, answer.get('field')), (404 if field == 'gpu' else 400, field))
        uuid = server.ask('GET', '/gpus/1')['uuid']
        status, answer = post(server, '/apply', json.dumps({'layouts': {'1': '7', uuid: '4-3'}}))
        checks.expect('a GPU by number and by UUID', (status, answer.get('field')), (400, 'layouts'))
        ran = checks.run('apply', '--server', server.url, '0=7', '0=4-3')
        checks.expect('apply 0=7 0=4-3', ran.returncode, 2)
    finally:
        server.end()
        server.clean_up()


def names_that_a_terminal_obeys(checks):
    server = Server(checks.program, '--fleet', '1xA100-40GB', '--speed', '200', '--policy', 'none/edf')
    obeyed = '\x9b31m \u202ereversed\u202c \u2066 \u200f \u061c \u2028'
    try:
        job = server.ask('POST', '/jobs', {**JOB, 'name': f'name {obeyed}', 'command': ['\x1b]0;title\x07', obeyed]})['id']
        for words in (['status', job], ['status', '--json', job], ['status'], ['explain', job]):
            ran = checks.run(words[0], '--server', server.url, *words[1:])
            bad = re.findall('[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]', ran.stdout.decode())
            checks.expect(f"characters that {' '.join(words)} prints raw", bad, [])
        ran = checks.run('status', '--server', server.url, job)
        checks.expect('the name escaped', rb'name \u009b31m \u202ereversed' in ran.stdout, True)
        ran = checks.run('status', '--server', server.url, '--json', job)
        checks.expect('the name in JSON', json.loads(ran.stdout)['name'], f'name {obeyed}')
        ran = checks.run('simulate', '--policy', 'no\x9bne/\u202eedf')
        checks.expect('an error line', (ran.returncode, b'\xc2\x9b' in ran.stderr or b'\xe2\x80\xae' in ran.stderr), (2, False))
    finally:
        server.end()
        server.clean_up()


def cancelling(checks):
    """A job that runs is not cancelled yet when the answer comes; one that waits is."""
    server = Server(checks.program, '--fleet', '1xA100-40GB', '--speed', '1', '--policy', 'none/edf')
    try:
        running, waiting = (server.ask('POST', '/jobs', JOB)['id'] for _ in range(2))
        wait_for('the job runs', lambda: server.ask('GET', f'/jobs/{running}')['state'] == 'running')
        for job, over in ((waiting, True), (running, False)):
            ran = checks.run('cancel', '--server', server.url, job)
            said = f'job {job} is cancelled' if over else f'job {job} is being cancelled: its run is told to end'
            checks.expect('cancel', ran.stdout.decode().strip(), said)
    finally:
        server.end()
        server.clean_up()


def guesses(checks):
    """On loopback too, a few wrong tokens a second are judged, and then none."""
    with tempfile.TemporaryDirectory() as folder:
        tokens = folder + '/tokens'
        with open(os.open(tokens, os.O_CREAT | os.O_WRONLY, 0o600), 'w') as file:
            file.write('op operate right-token-0123456789\n')
        server = Server(checks.program, '--fleet', '1xA100-40GB', '--policy', 'none/edf', '--token-file', tokens)
        try:
            connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=60)

            def status(token):
                connection.request('GET', '/api/v1/fleet', headers={'Authorization': 'Bearer ' + token})
                response = connection.getresponse()
                response.read()
                return response.status
            begin = time.monotonic()
            found = [status(f'wrong-token-0123456789-{i}') for i in range(300)]
            most = 20 + 10 * (time.monotonic() - begin)
            checks.expect(f'over {most:.0f} of 300 guesses judged', found.count(401) > most, False)
            checks.expect('other answers to guesses', set(found) - {401, 429}, set())
            time.sleep(0.5)
            checks.expect('the right token, half a second later', status('right-token-0123456789'), 200)
        finally:
            server.end()
            server.clean_up()


def clients_that_read_nothing(checks):
    """A hundred of them, each with an answer of megabytes on its way: the memory stays within the budget."""
    server = Server(checks.program, '--fleet', '20000xA100-40GB', '--policy', 'none/edf')
    deaf = []
    try:
        def memory_mib(field):
            with open(f'/proc/{server.process.pid}/status') as file:
                return int(re.search(rf'{field}:\s+(\d+) kB', file.read()).group(1)) >> 10
        size = len(json.dumps(server.ask('GET', '/fleet')))
        before = memory_mib('VmRSS')
        for _ in range(100):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(('127.0.0.1', server.port))
            connection.sendall(b'GET /api/v1/fleet HTTP/1.1\r\nHost: localhost\r\n\r\n')
            deaf.append(connection)
        time.sleep(5)
        begin = time.monotonic()
        answered = len(server.ask('GET', '/fleet')['gpus'])
        took = time.monotonic() - begin
        grown = memory_mib('VmHWM') - before
        print(f'100 clients that do not read an answer of {size >> 20} MiB: {grown} MiB more memory; one that reads waits {took:.1f} s')
        # The budget, what a few threads build, and what the allocator keeps.
        checks.expect(f'over 400 MiB more memory ({grown})', grown > 400, False)
        checks.expect('GPUs in an answer to one that reads', answered, 20000)
    finally:
        for connection in deaf:
            connection.close()
        server.end()
        server.clean_up()


def make_certificate(folder, name):
    """A key and a certificate for 127.0.0.1 that it signed itself."""
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', f'/CN={name}', '-addext',
                    'subjectAltName=IP:127.0.0.1', '-keyout', folder + '/key.pem', '-out', folder + '/cert.pem'],
                   check=True, capture_output=True)
    os.chmod(folder + '/key.pem', 0o600)


def certificate_of(port):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.create_connection(('127.0.0.1', port)) as plain, context.wrap_socket(plain) as connection:
        return ssl.DER_cert_to_PEM_cert(connection.getpeercert(True))


def certificates(checks):
    with tempfile.TemporaryDirectory() as folder:
        make_certificate(folder, 'first')
        options = ['--tls-cert', folder + '/cert.pem', '--tls-key', folder + '/key.pem']
        os.chmod(folder + '/key.pem', 0o644)
        status, said = checks.refused_serve('--state', folder + '/state', *options)
        checks.expect('serve with a key that others can read',
                      (status, said.count('\n'), 'chmod 640' in said, os.path.exists(folder + '/state')), (2, 1, True, False))
        os.chmod(folder + '/key.pem', 0o600)
        server = Server(checks.program, '--fleet', '1xA100-40GB', '--policy', 'none/edf', *options)
        try:
            first = certificate_of(server.port)
            with open(folder + '/cert.pem') as file:
                checks.expect('the certificate', first.strip() == file.read().strip(), True)
            shutil.copyfile(folder + '/key.pem', folder + '/old.pem')
            make_certificate(folder, 'second')
            os.rename(folder + '/key.pem', folder + '/new.pem')
            shutil.copyfile(folder + '/old.pem', folder + '/key.pem')
            os.chmod(folder + '/key.pem', 0o600)
            server.process.send_signal(signal.SIGHUP)
            time.sleep(0.5)
            checks.expect('the old certificate stays where the new has another key', certificate_of(server.port) == first, True)
            os.rename(folder + '/new.pem', folder + '/key.pem')
            server.process.send_signal(signal.SIGHUP)
            wait_for('a new certificate after SIGHUP', lambda: certificate_of(server.port) != first)
        finally:
            server.end()
            server.clean_up()


def folders_that_others_can_write(checks):
    with tempfile.TemporaryDirectory() as folder:
        for mode in (0o770, 0o707, 0o1777):
            state = f'{folder}/{mode:o}'
            os.mkdir(state)
            os.chmod(state, mode)
            status, said = checks.refused_serve('--state', state)
            checks.expect(f'serve in a folder of mode {mode:o}',
                          (status, said.count('\n'), f'chmod 700 {state}' in said, os.listdir(state)), (2, 1, True, []))
            doctor = checks.run('doctor', '--state', state, '--server', 'http://127.0.0.1:9')
            checks.expect(f'doctor on a folder of mode {mode:o}', b'so that others can write it' in doctor.stdout, True)
        state = folder + '/read-only'
        os.mkdir(state)
        os.chmod(state, 0o500)
        doctor = checks.run('doctor', '--state', state, '--server', 'http://127.0.0.1:9')
        checks.expect('doctor on a read-only folder', b'BAD  state folder' in doctor.stdout and b'is read-only' in doctor.stdout, True)


def main():
    checks = Checks(sys.argv[1])
    parts = (odd_requests, names_that_a_terminal_obeys, cancelling, guesses, clients_that_read_nothing, certificates,
             folders_that_others_can_write)
    for part in parts:
        if len(sys.argv) < 3 or part.__name__ in sys.argv[2:]:
            part(checks)
    print('\n'.join(checks.wrong) or 'nothing that strangers did worked')
    return 1 if checks.wrong else 0


if __name__ == '__main__':
    sys.exit(main())
