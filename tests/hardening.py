"""Whether a release program is hardened, and its systemd unit confined: hardening.py PROGRAM, or hardening.py --unit UNIT.

The program: what Debian's hardening-check looks for, read with readelf. The unit: `systemd-analyze security` gives it less than 3.0.
"""
import re
import shutil
import subprocess
import sys

MOST_EXPOSED = 30  # Tenths of a point of systemd-analyze.
SKIPPED = 77


def readelf(*words):
    return subprocess.run(["readelf", "--wide", *words], check=True, capture_output=True, text=True).stdout


def check_program(program):
    header, segments = readelf("--file-header", program), readelf("--program-headers", program)
    dynamic, symbols = readelf("--dynamic", program), readelf("--dyn-syms", program)
    stack = re.search(r"GNU_STACK.*", segments)
    x86 = "X86-64" in header
    checks = {
        "position-independent (PIE)": re.search(r"Type:\s+DYN", header) and re.search(r"FLAGS_1.*\bPIE\b", dynamic),
        "stack protector": "__stack_chk_fail" in symbols,
        "fortified calls": re.search(r"__(\w+)_chk\b", symbols),
        "read-only relocations": "GNU_RELRO" in segments,
        "immediate binding": re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", dynamic),
        "a stack that cannot be run": stack and "E" not in stack.group().split()[-2],
    }
    missing = [name for name, found in checks.items() if not found]
    if x86:
        code = subprocess.run(["objdump", "--disassemble", "--no-show-raw-insn", program], check=True, capture_output=True, text=True).stdout
        # A function with a large frame touches each page of it on the way.
        if not re.search(r"sub\s+\$0x1000,%rsp\n.*or[ql]\s+\$0x0,", code):
            missing.append("stack-clash protection")
        # Functions start with the mark that indirect calls must find. (The linker adds a note to the program only if the start files of
        # the C library have the marks too, which those of Debian 12 do not.)
        if code.count("endbr64") < 1000:
            missing.append("control-flow protection")
    if missing:
        sys.exit(f"{program} lacks: {', '.join(missing)}")


def check_unit(unit):
    if not shutil.which("systemd-analyze"):
        print("did not run: systemd-analyze is not there")
        sys.exit(SKIPPED)
    done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", f"--threshold={MOST_EXPOSED - 1}", unit],
                          capture_output=True, text=True)
    if "unrecognized option" in done.stderr:
        print("did not run: systemd-analyze is older than version 250")
        sys.exit(SKIPPED)
    print(done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr)
    if done.returncode != 0:
        sys.exit(f"{unit}: expected less than {MOST_EXPOSED / 10}\n{done.stdout}{done.stderr}")


if sys.argv[1] == "--unit":
    check_unit(sys.argv[2])
else:
    check_program(sys.argv[1])
