smartmig compare --workload paper --days 3 --rate 4 --fleet 2xA100-40GB --policy none/edf --policy count/cedf --policy greedy
smartmig compare --workload paper-fixed --days 3 --fleet 2xA100-40GB --count 40 --policy none/edf --policy count/cedf
smartmig compare --jobs in/tiny.csv --fleet 1xA100-40GB --policy none/edf --policy static:4-3/edf --json
smartmig compare --jobs in/two_days.csv --fleet 1xA100-40GB --policy none/edf --policy static:4-3/edf --split-days
