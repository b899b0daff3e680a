#!/usr/bin/env python3
"""The live interface against web/openapi.json: schemathesis makes requests from the document, valid and invalid, and holds every
answer to it. The controller has tokens; requests come with an operator's.

    check.py PROGRAM [--examples N] [--seed S] [--phases LIST] [--verbose]

Prints operations, cases and findings. script/bootstrap installs the pinned schemathesis of requirements.txt."""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from live_server import Server  # noqa: E402

TOKEN = 'operate-token-0123456789abcdef'


def start_server(program, folder):
    tokens = folder + '/tokens'
    with open(os.open(tokens, os.O_CREAT | os.O_WRONLY, 0o600), 'w') as file:
        file.write(f'op operate {TOKEN}\n')
    # One check sends wrong tokens as fast as it can, which is not what is looked at here (tests/live_hostile.py does).
    return Server(program, '--fleet', '4xA100-40GB', '--speed', '50', '--policy', 'none/edf', '--token-file', tokens,
                  config='[http]\nwrong_tokens_per_s = 0\n')


def run_schemathesis(server, folder, options):
    tool = HERE + '/venv/bin/st'
    if not os.path.exists(tool):
        raise SystemExit('tests/api/venv is not there: script/bootstrap test installs schemathesis')
    report = folder + '/events.ndjson'
    words = [tool, '--config-file', HERE + '/schemathesis.toml', 'run', server.url + '/openapi.json', '--seed', str(options.seed),
             '--max-examples', str(options.examples), '--phases', options.phases, '--workers', '1', '--no-color',
             '--continue-on-failure', '--report', 'ndjson', '--report-ndjson-path', report]
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, env={**os.environ, 'SMARTMIG_API_TOKEN': TOKEN})
    return ran, report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--examples', type=int, default=20)
    parser.add_argument('--seed', type=int, default=17)
    parser.add_argument('--phases', default='examples,coverage,fuzzing,stateful')
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(os.path.abspath(options.program), folder)
        begin = time.monotonic()
        try:
            ran, report = run_schemathesis(server, folder, options)
            took = time.monotonic() - begin
            alive = server.process.poll() is None
        finally:
            server.end()
            server.clean_up()
        print(ran.stdout[-200000:] if options.verbose or ran.returncode else ran.stdout[-3000:])
        print(ran.stderr)
        print(f'{took:.0f} s; the controller {"is alive" if alive else "HAS ENDED"}')
        os.system(f'cp {report} /tmp/w3-events.ndjson')
    return ran.returncode if alive else 1


if __name__ == '__main__':
    sys.exit(main())
