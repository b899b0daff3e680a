#!/usr/bin/env bash
# run.sh PROGRAM OUT TEST: a test of this folder, such as report_test.mjs. Where node, Chromium or the packages of package.json
# are missing it says so and leaves with 77; script/bootstrap test installs them.
set -euo pipefail
program=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "$0")"

missing() {
  echo "did not run: $1 (script/bootstrap test installs it)"
  exit 77
}
command -v node >/dev/null || missing "node is not there"
[[ -x /usr/bin/chromium || -x /usr/bin/chromium-browser ]] || missing "chromium is not there"
[[ -d node_modules/playwright-core && -d node_modules/axe-core ]] || missing "tests/browser/node_modules is not there"

SMARTMIG=$program OUT=$out node --test "$3"
