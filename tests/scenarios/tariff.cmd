# One GPU and three jobs in the first hour of the day: 6958 J at 0.3 a kWh and 200 g.
smartmig simulate --jobs in/tiny.csv --fleet 1xA100-40GB --policy none/edf --tariff in/tariff.csv
smartmig simulate --jobs in/tiny.csv --fleet 1xA100-40GB --policy none/edf --tariff in/tariff.csv --json
smartmig compare --workload paper --days 3 --rate 4 --fleet 2xA100-40GB --policy none/edf --policy count/cedf --tariff in/tariff.csv
# Bad files: one line each, exit status 2.
smartmig simulate --tariff in/tariff_short.csv
smartmig compare --days 1 --tariff in/tariff_twice.csv
smartmig simulate --tariff in/absent.csv
smartmig simulate --tariff in/tiny.csv
