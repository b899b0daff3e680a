# Good input, but job b needs more memory than any slice has: the run fails, and leaves nothing behind.
smartmig simulate --jobs in/too_large.csv --policy none/edf --out out/run
smartmig compare --jobs in/too_large.csv --policy none/edf --policy count/edf --out out/compare
smartmig search-static --jobs in/too_large.csv --fleet 1xA100-40GB --out out/search
smartmig simulate --jobs in/too_large.csv --fleet 1xA100-80GB --policy none/edf | head -1
smartmig simulate --days 1 > /dev/full
