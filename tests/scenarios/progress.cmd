# writes
# Long work shows life off a terminal: a line for each stage, here at every millisecond.
SMARTMIG_PROGRESS=0.001 smartmig compare --workload paper --rate 1 --fleet 1xA100-40GB --days 1 --policy none/edf --bound 2>lines >/dev/null; sed 's/: [0-9].*//' lines | grep bounds | sort -u
SMARTMIG_PROGRESS=0.001 smartmig compare --days 10 --policy none/edf 2>lines >/dev/null; sed 's/: [0-9].*//' lines | grep runs | sort -u
SMARTMIG_PROGRESS=0.001 smartmig bound --workload paper --rate 1 --fleet 1xA100-40GB 2>lines >/dev/null; sed 's/: [0-9].*//' lines | grep search | sort -u
SMARTMIG_PROGRESS=0.001 smartmig train --recipe in/tiny_recipe.toml --out a.safetensors 2>lines >/dev/null; grep -q '^train: [0-9]* of [0-9]*' lines && echo lines
SMARTMIG_PROGRESS=off smartmig compare --workload paper --rate 1 --fleet 1xA100-40GB --days 1 --policy none/edf --bound 2>&1 >/dev/null
