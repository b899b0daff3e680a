smartmig compare --workload paper --rate 20 --days 3 --costs real --preemption none --policy count/shortest-remaining --policy on-demand:bert-inference=2+resnet50-inference=2+bert-training=3+resnet50-training=2 --policy on-demand:on-time,pack,strict,keep --policy miso
smartmig compare --jobs in/asked.csv --fleet 1xA100-40GB --policy on-demand:asked --policy on-demand:asked,first,strict --policy miso:5
smartmig search-static --on-demand --workload paper --rate 5 --fleet 2xA100-40GB --costs real --preemption none --train-days 2 --days 2
smartmig search-static --on-demand --on-demand-rules strict --workload paper --rate 5 --fleet 2xA100-40GB --costs real --preemption none --train-days 1 --days 1 --json | head -8
smartmig simulate --jobs in/tiny.csv --fleet 1xA100-40GB --policy on-demand:asked
smartmig compare --workload paper --days 1 --policy count/cedf --policy on-demand:asked
smartmig simulate --policy on-demand
smartmig simulate --policy on-demand:bert-training=5
smartmig simulate --policy on-demand:asked,fast
smartmig simulate --policy miso:soon
smartmig search-static --on-demand-rules strict
smartmig search-static --on-demand --on-demand-rules quick
smartmig search-static --on-demand --jobs in/tiny.csv --fleet 1xA100-40GB
