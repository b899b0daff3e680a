#!/usr/bin/env bash
# What `search-static --mig-parted` writes is read by NVIDIA's own tool: `nvidia-mig-parted assert --valid-config`, built
# from its Go module at the version of go.mod. Where there is no Go, or its modules cannot be fetched, it did not run.
#   run.sh PROGRAM FOLDER   (FOLDER keeps the tool between runs)
set -euo pipefail
program=$(realpath "$1")
folder=$2
here=$(dirname "$(realpath "$0")")
mkdir -p "$folder"
folder=$(realpath "$folder")
tool=$folder/nvidia-mig-parted

# write NAME FLEET: the best layouts for a small file of jobs.
write() {
  "$program" search-static --jobs "$here/../scenarios/in/tiny.csv" --fleet "$2" --budget 40 --mig-parted "$folder/$1.yaml" >/dev/null
}
write one 2xA100-40GB
write mixed 1xA100-40GB+1xH100-80GB
grep -q '^version: v1$' "$folder/one.yaml"

if [[ ! -x $tool ]]; then
  if ! command -v go >/dev/null; then
    echo "did not run: there is no go to build nvidia-mig-parted with"
    exit 77
  fi
  if ! (cd "$here" && timeout 240 go build -o "$tool" github.com/NVIDIA/mig-parted/cmd/nvidia-mig-parted) 2>"$folder/build.log"; then
    echo "did not run: nvidia-mig-parted cannot be built: $(tail -1 "$folder/build.log")"
    exit 77
  fi
fi
for name in one mixed; do
  "$tool" assert --valid-config -f "$folder/$name.yaml" -c smartmig
done
# The check can fail.
sed 's/mig-devices:/mig-device:/' "$folder/one.yaml" >"$folder/broken.yaml"
if "$tool" assert --valid-config -f "$folder/broken.yaml" -c smartmig 2>/dev/null; then
  echo "nvidia-mig-parted took a file with a misspelt field"
  exit 1
fi
