#!/usr/bin/env bash
# Runs one scenario and compares all it prints with what is expected, to the byte.
#   run.sh PROGRAM NAME.cmd [--update]
# NAME.cmd has one command a line, `smartmig` standing for the program; NAME.out has each with its output (standard error
# too) and its exit status. Lines with "wall_s", the one thing that differs between runs, are left out. A scenario runs in an empty
# folder with a copy of in/, and must leave it as it was unless it says "# writes". One that says "# needs PATH" (from the
# repository's root) is skipped where that is absent, and finds it as a link by its last name.
set -euo pipefail

program=$(realpath "$1")
scenario=$(realpath "$2")
update=${3:-}
here=$(dirname "$scenario")
expected=${scenario%.cmd}.out
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r "$here/in" "$scratch/in"

needs=$(sed -n 's/^# needs //p' "$scenario")
if [[ -n $needs ]]; then
  if [[ ! -e $here/../../$needs ]]; then
    echo "did not run: $needs is not there"
    exit 77
  fi
  ln -s "$(realpath "$here/../../$needs")" "$scratch/$(basename "$needs")"
fi

smartmig() { "$SMARTMIG" "$@"; }
export -f smartmig
# A slow machine prints no more than a fast one.
export SMARTMIG=$program LC_ALL=C SMARTMIG_PROGRESS=off
contents() { (cd "$scratch" && find . -type f -exec cksum {} + -o -print | sort); }

before=$(contents)
found=$(mktemp)
trap 'rm -rf "$scratch" "$found"' EXIT
while IFS= read -r line; do
  [[ -z $line || $line == \#* ]] && continue
  status=0
  output=$(cd "$scratch" && bash -c "$line" 2>&1 </dev/null) || status=$?
  {
    printf '$ %s\n' "$line"
    [[ -z $output ]] || printf '%s\n' "$output" | sed '/wall_s/d'
    printf '[exit %d]\n' "$status"
  } >>"$found"
done <"$scenario"
if ! grep -q '^# writes' "$scenario" && [[ $(contents) != "$before" ]]; then
  echo "the scenario says nothing of writing, but left other files than it found:"
  diff <(printf '%s\n' "$before") <(contents) || true
  exit 1
fi
if [[ $update == --update ]]; then
  cp "$found" "$expected"
  chmod 644 "$expected"
fi
diff -u "$expected" "$found"
