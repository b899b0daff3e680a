"""A live controller for tests: `smartmig serve` on a free port, with a simulated fleet and a state folder of its own."""
import ctypes
import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def end_with_the_test():
    """In a child before it runs its program: SIGTERM when the test is gone, killed by its time limit for instance."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def stop_process(process, program, state):
    """Ends `serve` by SIGTERM and returns its exit status. One that does not end is killed, and so is its fleet."""
    process.terminate()
    try:
        return process.wait(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        stop_fleet_of(program, state)
        raise


def stop_fleet_of(program, state):
    subprocess.run([program, 'fleet', '--state', state + '/fleet', '--stop'], timeout=120)


def wait_for(what, holds, most_s=60):
    """Returns as soon as holds() does; ends the test where that is not within the limit."""
    end = time.monotonic() + most_s
    while not holds():
        if time.monotonic() > end:
            raise SystemExit(f'not within {most_s} s: {what}')
        time.sleep(0.02)


class Server:
    """`smartmig serve` of its own, with its fleet, in a temporary folder unless one is given."""

    def __init__(self, program, *options, config='', state='', stop_fleet=True):
        self.program = program
        self.state = state or tempfile.mkdtemp(prefix='smartmig-live-')
        options = (*options, '--stop-fleet') if stop_fleet else options
        if config:
            with open(self.state + '/serve.toml', 'w') as file:
                file.write(config)
            options = (*options, '--config', self.state + '/serve.toml')
        self.process = subprocess.Popen(
            [program, 'serve', '--state', self.state, '--listen', '127.0.0.1:0', *options],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=end_with_the_test)
        line = self.process.stdout.readline()
        found = re.search(r'https?://127\.0\.0\.1:(\d+)', line)
        if not found:
            self.end()
            raise SystemExit(f'serve did not start: {line}')
        self.port = int(found.group(1))
        self.url = found.group(0)
        self.local = threading.local()

    def ask(self, method, path, body=None):
        """The answer, as JSON; one connection for each thread."""
        if not hasattr(self.local, 'connection'):
            self.local.connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
            self.local.connection.connect()
            self.local.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = self.local.connection
        text = None if body is None else json.dumps(body)
        try:
            connection.request(method, '/api/v1' + path, text, {'Content-Type': 'application/json'} if text else {})
            response = connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):
            # The server closes those that were idle for a minute.
            if method != 'GET' or getattr(self.local, 'again', False):
                raise
            del self.local.connection
            self.local.again = True
            return self.ask(method, path, body)
        self.local.again = False
        answer = json.loads(response.read())
        if response.status >= 300:
            raise RuntimeError(f'{method} {path}: {response.status} {answer}')
        return answer

    def tell_fleet(self, request):
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(60)  # The fleet writes before it answers, and disks of busy machines stall.
            channel.connect(self.state + '/fleet/fleet.sock')
            channel.sendall(json.dumps({'id': 1, **request}).encode() + b'\n')
            return json.loads(channel.makefile().readline())

    def summary(self):
        return self.ask('GET', '/fleet?gpus=false')

    def jobs(self):
        found, after = [], ''
        while True:
            page = self.ask('GET', '/jobs?limit=1000' + after)
            found += page['jobs']
            if page['next'] is None:
                return found
            after = f"&after={page['next']}"

    def end(self):
        """By SIGTERM; its state stays. The exit status."""
        return stop_process(self.process, self.program, self.state)

    def clean_up(self):
        """Also of a fleet that was to outlive its controller."""
        stop_fleet_of(self.program, self.state)
        shutil.rmtree(self.state, ignore_errors=True)
