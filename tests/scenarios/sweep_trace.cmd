# needs ../shared/traces/dev_openb2023.csv.gz
# How many GPUs for this trace so that under 5 % of the jobs are late? 43 jobs on several GPUs fit no slice and count.
smartmig compare --jobs dev_openb2023.csv.gz --deadlines 1:1.5 --right-size --seed 1 --sweep gpus=16..22 --target late_pct=5
