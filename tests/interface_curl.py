#!/usr/bin/env python3
"""The lines with curl in docs/formats/interface.md, run as they stand there against a controller that asks for tokens.

    interface_curl.py PROGRAM INTERFACE.md

Only the port is another. The first submits a job and prints its id, the second prints the sums of the fleet."""
import json
import os
import subprocess
import sys
import tempfile

from live_server import Server

TOKEN = 'a-token-for-the-lines-of-a-page'


def main(program, page):
    with open(page) as file:
        lines = [line.strip() for line in file if line.startswith('    curl ')]
    if len(lines) != 2:
        raise SystemExit(f'{page}: found {len(lines)} lines with curl, expected 2')
    with tempfile.TemporaryDirectory() as folder:
        tokens = os.path.join(folder, 'tokens')
        with open(os.open(tokens, os.O_WRONLY | os.O_CREAT, 0o600), 'w') as file:
            file.write(f'alice submit {TOKEN}\n')
        with open(os.path.join(folder, 'token'), 'w') as file:
            file.write(TOKEN + '\n')
        server = Server(program, '--fleet', '2xA100-40GB', '--token-file', tokens)
        try:
            answers = []
            for line in lines:
                line = line.replace('127.0.0.1:8080', f'127.0.0.1:{server.port}')
                ran = subprocess.run(['sh', '-c', line], cwd=folder, capture_output=True, text=True, timeout=60)
                if ran.returncode != 0:
                    raise SystemExit(f'{line}: exit {ran.returncode}: {ran.stderr}')
                answers.append(json.loads(ran.stdout))
        finally:
            server.end()
            server.clean_up()
    submitted, fleet = answers
    if submitted != {'id': '1'}:
        raise SystemExit(f'the first line answered {submitted}, expected an id')
    if fleet.get('fleet') != '2xA100-40GB' or fleet['queued'] + fleet['running'] != 1:
        raise SystemExit(f'the second line answered {fleet}, expected the sums of a fleet with one job')
    print('both lines of the page work')


if __name__ == '__main__':
    main(*sys.argv[1:])
