smartmig search-static --workload paper --rate 5 --fleet 2xA100-40GB --train-days 4 --days 3
smartmig search-static --jobs in/two_days.csv --fleet 1xA100-40GB --split-days
smartmig search-static --jobs in/tiny.csv --fleet 1xA100-40GB | grep searched
