"""What is installed works and is complete: install.py BUILD_FOLDER.

Installs from the build folder into a temporary one, as `cmake --install` does, and looks at every part: the program runs from there,
each command has a manual page that says what its --help says, bash completes commands and options, the unit names the program, and
a configuration that was changed survives a second installation. Then makes the .deb and looks into it.
"""
import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent


def run(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


def expect(good, what):
    if not good:
        sys.exit(f"install: {what}")


def commands_of(program, *path):
    """The commands that help lists below `path`."""
    names, listing = [], False
    for line in run(program, "help", *path).splitlines():
        if line and not line.startswith(" "):
            listing = line.endswith(":") and line not in ("Options:", "Arguments:", "Examples:", "Environment:")
        elif listing and line.startswith("  ") and not line.startswith("   ") and not line.startswith("  -"):
            names.append(line.split()[0])
    return names if path or names else []


def check_man_pages(program, folder):
    pages = [("smartmig",)] + [("smartmig", name) for name in commands_of(program)]
    pages += [("smartmig", "workload", name) for name in ("generate", "import", "stats")]
    expect(len(pages) > 30, f"help lists {len(pages)} commands")
    for path in pages:
        file = folder / f"{'-'.join(path)}.1.gz"
        expect(file.exists(), f"{' '.join(path)} has no manual page {file}")
        text = gzip.open(file, "rt").read()
        for line in run(program, *path[1:], "--help").splitlines():
            words = line.split()
            if line.startswith("  --"):
                option = words[0].rstrip(",").replace("-", "\\-")
                expect(option in text, f"{file.name} does not have {words[0]}")
    expect({f.name for f in folder.iterdir()} == {f"{'-'.join(path)}.1.gz" for path in pages}, "manual pages of no command")
    if shutil.which("groff"):
        for path in pages:
            text = gzip.open(folder / f"{'-'.join(path)}.1.gz", "rt").read()
            done = subprocess.run(["groff", "-K", "utf8", "-man", "-Tutf8", "-ww"], input=text, capture_output=True, text=True)
            expect(done.returncode == 0 and not done.stderr, f"{'-'.join(path)}.1: {done.stderr}")


def completed(script, *words):
    """What bash offers for the last of the words."""
    line = " ".join(f"'{word}'" for word in words)
    code = f"source '{script}'; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _smartmig; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return set(run("bash", "--norc", "-c", code, cwd=script.parent).split())


def check_completion(program, script):
    expect({"compare", "workload", "serve"} <= completed(script, "smartmig", ""), "bash does not complete commands")
    expect(completed(script, "smartmig", "compa") == {"compare"}, "bash does not complete compa")
    expect({"import", "stats"} <= completed(script, "smartmig", "workload", ""), "bash does not complete workload's commands")
    expect(completed(script, "smartmig", "compare", "--poli") == {"--policy"}, "bash does not complete --policy")
    expect("--policy" not in completed(script, "smartmig", "gpus", "--"), "bash completes an option of another command")
    expect(completed(script, "smartmig", "compare", "--jobs", "smart") == {"smartmig"}, "bash does not complete file names")
    for name in commands_of(program):
        offered = completed(script, "smartmig", name, "--")
        shown = {word.rstrip(",") for line in run(program, name, "--help").splitlines() if line.startswith("  -")
                 for word in line.split()[:2] if word.startswith("--")}
        expect(offered == shown, f"bash offers for {name}: {offered}, --help has {shown}")


def check_installation(build, prefix):
    install = ["cmake", "--install", build, "--prefix", str(prefix)]
    run(*install)
    program = prefix / "bin" / "smartmig"
    expect("Usage: smartmig compare" in run(program, "help", "compare"), "the program does not print its help")
    expect("Other commands:" not in run(program, "help"), "a command has no heading: give it one in src/cli/help.cc")
    expect("A100-40GB" in run(program, "gpus", cwd="/"), "the program does not find its data")
    check_man_pages(program, prefix / "share" / "man" / "man1")
    check_completion(program, prefix / "share" / "bash-completion" / "completions" / "smartmig")
    for shell in ("zsh/vendor-completions/_smartmig", "fish/vendor_completions.d/smartmig.fish"):
        expect("search-static" in (prefix / "share" / shell).read_text(), shell)
    for shell, words in (("zsh", ["-n", str(prefix / "share/zsh/vendor-completions/_smartmig")]),
                         ("fish", ["--no-execute", str(prefix / "share/fish/vendor_completions.d/smartmig.fish")])):
        if shutil.which(shell):
            run(shell, *words)
    unit = (prefix / "lib/systemd/system/smartmig.service").read_text()
    expect(f"ExecStart={program} serve --config {prefix}/etc/smartmig/smartmig.toml\n" in unit, "the unit names another program")
    expect("dir@" not in unit and "=@system-service\n" in unit, "the unit was not filled in")
    configuration = prefix / "etc/smartmig/smartmig.toml"
    configuration.write_text("# mine\n")
    run(*install)
    expect(configuration.read_text() == "# mine\n", "a second installation replaced the configuration")


def check_package(build, folder):
    if not shutil.which("dpkg-shlibdeps"):
        print("did not run: dpkg-shlibdeps is not there, so no .deb was made")
        return
    run("cpack", "--config", f"{build}/CPackConfig.cmake", "-B", str(folder), cwd=folder)
    [package] = folder.glob("smartmig_*.deb")
    for field, wanted in (("Depends", "libc6"), ("Depends", "libsqlite3-0"), ("Depends", "adduser"), ("Section", "admin")):
        expect(wanted in run("dpkg-deb", "--field", package, field), f"the package's {field} lacks {wanted}")
    run("dpkg-deb", "--extract", package, folder / "root")
    for file in ("usr/bin/smartmig", "usr/lib/systemd/system/smartmig.service", "etc/smartmig/smartmig.toml",
                 "usr/share/man/man1/smartmig-compare.1.gz", "usr/share/bash-completion/completions/smartmig",
                 "usr/share/doc/smartmig/copyright"):
        expect((folder / "root" / file).is_file(), f"the package lacks {file}")
    unit = (folder / "root/usr/lib/systemd/system/smartmig.service").read_text()
    expect("ExecStart=/usr/bin/smartmig serve --config /etc/smartmig/smartmig.toml\n" in unit, "the package's unit names another program")
    run("dpkg-deb", "--control", package, folder / "control")
    for script in ("postinst", "prerm", "postrm"):
        run("sh", "-n", folder / "control" / script)
        expect(os.access(folder / "control" / script, os.X_OK), f"{script} cannot be run")


def main():
    build = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        check_installation(build, pathlib.Path(folder) / "prefix")
        package = pathlib.Path(folder) / "package"
        package.mkdir()
        check_package(build, package)


main()
