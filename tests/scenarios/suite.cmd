# Settings drawn from small ranges: few days, few jobs.
smartmig suite --list --draw 3 --seed 5
smartmig suite --list --draw 2 --seed 5 --ranges in/ranges.json
smartmig suite --draw 3 --seed 5 --ranges in/ranges.json --days 4:8 --bound-days 1 --search-budget 100 --no-cache --policy smartmig --policy count/cedf
smartmig suite --draw 3 --only 2 --seed 5 --ranges in/ranges.json --days 4:8 --bound-days 1 --search-budget 100 --no-cache --json
smartmig suite --draw 2 --seed 5 --ranges in/ranges.json --days 4:8 --bound-days 1 --search-budget 100 --no-cache --threads 1 --json >one; smartmig suite --draw 2 --seed 5 --ranges in/ranges.json --days 4:8 --bound-days 1 --search-budget 100 --cache kept --threads 3 --json >three; smartmig suite --draw 2 --seed 5 --ranges in/ranges.json --days 4:8 --bound-days 1 --search-budget 100 --cache kept --json >kept.json; cmp one three && cmp one kept.json; rm -r one three kept kept.json
smartmig suite --draw 2 --seed 5 --ranges in/ranges.json --trace in/hour.csv --bound-days 0 --search-budget 100 --no-cache
smartmig suite --draw 0
smartmig suite --days 20
smartmig suite --search-budget 7
smartmig suite --only 41
smartmig suite --trace-days 1:2
smartmig suite --trace in/tiny.csv
smartmig suite --trace in/hour.csv --trace-days 300:301
smartmig suite --policy static:7*8/edf
smartmig suite --policy smartmid
smartmig suite --ranges in/workload.json
