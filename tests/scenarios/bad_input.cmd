# Each with exit status 2, one line, and nothing written (the output folder named is never made).
smartmig simulate --fleet 8xA100-41GB --out out
smartmig simulate --policy static:7,3-3-1*7/cedf --out out
smartmig simulate --policy static:7,4-3/cedf --out out
smartmig simulate --policy static:7,4-3*8/cedf --out out
smartmig simulate --policy count/cedff --out out
smartmig simulate --policy cout/cedf --out out
smartmig simulate --policy gredy --out out
smartmig compare --policy count/cedf --policy none/elf --out out
smartmig simulate --jobs in/missing_column.csv --out out
smartmig simulate --jobs in/nan.csv --out out
smartmig simulate --jobs in/negative_time.csv --out out
smartmig simulate --jobs in/deadline_before_submit.csv --out out
smartmig simulate --jobs in/duplicate_id.csv --out out
smartmig simulate --jobs in/zero_time.csv --out out
smartmig simulate --jobs in/out_of_range.csv --out out
smartmig simulate --jobs in/short_row.csv --out out
smartmig simulate --jobs in/unknown_kind.csv --out out
smartmig simulate --jobs in/truncated.csv.gz --out out
smartmig simulate --jobs in/empty.csv --out out
smartmig simulate --jobs in/absent.csv --out out
smartmig simulate --jobs in --out out
smartmig simulate --fleet 0xA100-40GB --out out
smartmig simulate --fleet '' --out out
smartmig simulate --fleet in/none.fleet --out out
smartmig simulate --out /dev/null/x
smartmig simulate --out in/tiny.csv
smartmig compare --days 1 --out /dev/null/x
smartmig search-static --days 1 --out /dev/null/x
smartmig workload generate --out-file /dev/null/x
smartmig simulate --events in/absent.csv --out out
smartmig simulate --fleet 1xA100-40GB --events in/events_no_such_gpu.csv --out out
smartmig simulate --fleet 1xA100-40GB --events in/events_return.csv --out out
smartmig simulate --costs cheap --out out
smartmig simulate --costs in/costs_misspelt.json --out out
smartmig simulate --preemption always --out out
smartmig simulate --workload papr --out out
smartmig simulate --rate nan --out out
smartmig simulate --rate -1 --out out
smartmig simulate --days 0 --out out
smartmig simulate --energy-weight inf --out out
smartmig simulate --estimate-error -1 --out out
smartmig simulate --threads -2 --out out
smartmig simulate --seed -1 --out out
smartmig compare --seed 99999999999999999999 --out out
smartmig simulate --seed 0x10 --out out
smartmig simulate --deadlines 2:1 --out out
smartmig compare --days 0 --out out
smartmig compare --days 2000000 --out out
smartmig compare --split-days --out out
smartmig compare --jobs in/tiny.csv --days 3 --out out
smartmig search-static --placer cdef --out out
smartmig search-static --budget 0 --out out
smartmig search-static --train-days 0 --out out
smartmig search-static --start 7,7 --out out
