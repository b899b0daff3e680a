# Good input, but the policy makes no slice with the memory that job a needs: the run fails, and leaves nothing behind.
smartmig simulate --jobs in/too_large.csv --fleet 1xA100-40GB --policy static:1-1-1-1-1-1-1/edf --out out/run
smartmig compare --jobs in/too_large.csv --fleet 1xA100-40GB --policy none/edf --policy static:1-1-1-1-1-1-1/edf --out out/compare
# Job b needs more memory than any slice of the fleet has: it is left out, or bad input where it is the only one.
smartmig simulate --jobs in/too_large.csv --fleet 1xA100-40GB --policy none/edf
smartmig simulate --jobs in/too_large.csv --fleet 1xA100-40GB --where id=b --out out/run
smartmig search-static --jobs in/too_large.csv --fleet 1xA100-40GB --where id=b --out out/search
smartmig simulate --jobs in/too_large.csv --fleet 1xA100-80GB --policy none/edf | head -1
smartmig simulate --days 1 > /dev/full
