"""Runs the commands of the README: readme.py PROGRAM README.

Every line of a block fenced with ```sh is a command; all must succeed, in order, in a folder with a copy of examples/, with `smartmig`
standing for PROGRAM. `smartmig serve` continues beside those after it, on a free port. A command that stands anywhere else in the
README would not be tested, and fails.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from live_server import end_with_the_test, stop_process

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def start_server(line, work, environment):
    # Not the usual port, which may be taken.
    server = subprocess.Popen([*line.split(), "--listen", "127.0.0.1:0"], cwd=work, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, preexec_fn=end_with_the_test)
    said = server.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+", said)
    if not found:
        stop_server(server, environment)
        sys.exit(f"{line}: printed {said!r}")
    environment["SMARTMIG_SERVER"] = found.group()
    return server


def stop_server(server, environment):
    stop_process(server, server.args[0], environment["XDG_STATE_HOME"] + "/smartmig")


def run_all(lines, work, environment):
    servers = []
    try:
        for line in lines:
            if line.startswith("smartmig serve "):
                servers.append(start_server(line, work, environment))
                continue
            done = subprocess.run(["bash", "-c", line], cwd=work, env=environment, capture_output=True, text=True, timeout=600,
                                  stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                sys.exit(f"{line}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    finally:
        for server in servers:
            stop_server(server, environment)


def main():
    program, text = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).read_text()
    lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
    if not lines:
        sys.exit("README: has no ```sh block")
    for line in BLOCK.sub("", text).splitlines():
        if re.match(r"( {4}|\t)?smartmig \w", line):
            sys.exit(f"README: this command is in no ```sh block: {line}")
    if text.index("build/release/smartmig") > text.index("```sh"):
        sys.exit("README: the first command comes before the program's path")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        work = folder / "work"
        shutil.copytree(pathlib.Path(__file__).resolve().parent.parent / "examples", work / "examples")
        (folder / "bin").mkdir()
        (folder / "bin" / "smartmig").symlink_to(program)
        environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "XDG_STATE_HOME": str(folder / "state")}
        run_all(lines, work, environment)


main()
