"""Runs the commands of a document and compares what they print with what it shows, to the byte.

tutorial.py PROGRAM DOCUMENT [--update]: a block fenced with ```console has commands, each a line after "$ ", with their output below them.
They run in order, in a temporary folder with a copy of examples/, `smartmig` standing for PROGRAM. --update writes what they print
into the document.
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(^```console\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)


def run_block(text, folder, environment):
    """The block as its commands print it now."""
    shown = []
    for line in text.splitlines():
        if not line.startswith("$ "):
            continue
        done = subprocess.run(["bash", "-c", line[2:]], cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        shown.append(line)
        shown += (done.stdout + done.stderr).splitlines()
        if done.returncode != 0:
            shown.append(f"[exit {done.returncode}]")
    return "\n".join(shown) + "\n"


def main():
    program, document = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    before = document.read_text()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(__file__).resolve().parent.parent
        shutil.copytree(root / "examples", pathlib.Path(folder) / "work" / "examples")
        bin_folder = pathlib.Path(folder) / "bin"
        bin_folder.mkdir()
        (bin_folder / "smartmig").symlink_to(program)
        environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "LC_ALL": "C", "SMARTMIG_PROGRESS": "off"}
        work = pathlib.Path(folder) / "work"
        after = BLOCK.sub(lambda block: block[1] + run_block(block[2], work, environment) + block[3], before)
    if not BLOCK.search(before):
        sys.exit(f"{document}: has no ```console block")
    if len(sys.argv) > 3 and sys.argv[3] == "--update":
        document.write_text(after)
    elif after != before:
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True), "shown", "printed"))
        sys.exit(1)


main()
