#!/usr/bin/env python3
"""The live interface against its document, web/openapi.json: schemathesis makes requests from the document, valid and invalid, and
holds every answer to it. The controller has tokens; requests come with an operator's. The same seed makes the same requests.

    check.py PROGRAM [--examples N] [--seed S] [--phases LIST]

Prints operations, cases and findings; everything that schemathesis said where there are findings. script/bootstrap installs the
pinned schemathesis of requirements.txt, and schemathesis.toml says what it does not look at."""
import argparse
import os
import re
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
    # One check sends wrong tokens as fast as it can. How many are judged is looked at by tests/live_hostile.py.
    return Server(program, '--fleet', '4xA100-40GB', '--speed', '50', '--policy', 'none/edf', '--token-file', tokens,
                  config='[http]\nwrong_tokens_per_s = 0\n')


def run_schemathesis(server, folder, options):
    tool = HERE + '/venv/bin/st'
    if not os.path.exists(tool):
        raise SystemExit('tests/api/venv is not there: script/bootstrap test installs schemathesis')
    words = [tool, '--config-file', HERE + '/schemathesis.toml', 'run', server.url + '/openapi.json', '--seed', str(options.seed),
             '--max-examples', str(options.examples), '--phases', options.phases, '--no-color', '--continue-on-failure']
    # Ended before ctest would end this test: then the controller is ended too.
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, env={**os.environ, 'SMARTMIG_API_TOKEN': TOKEN},
                          timeout=max(540, 20 * options.examples))


def summary(said):
    """Operations, cases and findings, from what schemathesis prints last."""
    def find(pattern):
        found = re.search(pattern, said)
        return found.group(1) if found else '?'
    tested, selected, cases = find(r'Tested: (.*)'), find(r'Selected: (.*)'), find(r'Test cases:\n  (.*)')
    failures = re.findall(r'^  \S+ (ST\d+ .*)', said, re.MULTILINE)
    return [f'operations: {tested} of {selected}', f'cases: {cases}', 'findings: ' + ('; '.join(failures) or 'none')]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--examples', type=int, default=30, help='of each operation, beside those of the coverage phase')
    parser.add_argument('--seed', type=int, default=17)
    parser.add_argument('--phases', default='examples,coverage,fuzzing,stateful')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(os.path.abspath(options.program), folder)
        begin = time.monotonic()
        try:
            ran = run_schemathesis(server, folder, options)
            took = time.monotonic() - begin
            alive = server.process.poll() is None
        finally:
            server.end()
            server.clean_up()
    good = ran.returncode == 0 and alive
    if not good:
        print(ran.stdout + ran.stderr)
    for line in summary(ran.stdout):
        print(line)
    print(f"seed {options.seed}, {options.examples} examples, {took:.0f} s; the controller {'ran to the end' if alive else 'HAS ENDED'}")
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
