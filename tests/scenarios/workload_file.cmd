# A workload that a file describes.
smartmig simulate --workload in/workload.json --fleet 2xA100-40GB --policy count/cedf
smartmig compare --workload in/workload.json --fleet 2xA100-40GB --days 3 --policy none/edf --policy count/cedf
smartmig workload generate --workload in/workload.json --fleet 1xA30 2>/dev/null | head -4
smartmig simulate --workload in/workload_bad.json
smartmig simulate --workload in/workload.json --rate 3
smartmig simulate --workload in/no_such.json
smartmig simulate --workload papers
