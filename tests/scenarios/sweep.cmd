smartmig compare --sweep gpus=2..4 --sweep rate=4,6 --days 3 --policy none/edf --policy count/cedf --target late_pct=20
# No size reaches it: the best is named.
smartmig compare --sweep gpus=1,2 --rate 6 --days 2 --policy count/cedf --target late_pct=1
smartmig compare --sweep power-scale=0.8,1.2 --sweep costs=free,paper --rate 2 --fleet 1xA100-40GB --days 2 --policy count/cedf
# Job d fits no slice of an A100-40GB: it does not run, and is late.
smartmig compare --jobs in/unfit.csv --sweep gpus=1,2 --fleet A100-40GB --policy none/edf --target late_pct=30 --tariff in/tariff.csv
smartmig compare --jobs in/unfit.csv --sweep gpus=2 --fleet A100-40GB --policy none/edf --target late_pct=30 --json
# Bad input: one line each, exit status 2.
smartmig compare --sweep gpus
smartmig compare --sweep gpu=1..3
smartmig compare --sweep gpus=0..3
smartmig compare --sweep gpus=1..3 --policy static:7*8/cedf
smartmig compare --sweep gpus=1..3 --policy day-night:8=7*8+20=4-3*8/cedf
smartmig compare --sweep gpus=1..3 --fleet 1xA100-40GB+1xA30
smartmig compare --sweep rate=4,x
smartmig compare --sweep rate=4,0 --policy none/edf --out out
smartmig compare --sweep rate=4 --sweep rate=5
smartmig compare --sweep rate=4..6 --jobs in/tiny.csv
smartmig compare --sweep gpus=1..3 --target late=5
smartmig compare --sweep rate=4 --target late_pct=5
smartmig compare --target late_pct=5
smartmig compare --sweep gpus=1,2 --target cost=3
smartmig compare --sweep gpus=1,2 --jobs in/absent.csv
