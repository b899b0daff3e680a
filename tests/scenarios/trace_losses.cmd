# What of a file of jobs is kept, dropped and unfit, which jobs of it, what was assumed, and how they really fared.
smartmig compare --jobs in/site.sacct --fleet 1xA100-40GB --policy none/edf --policy count/cedf --policy greedy
smartmig compare --jobs in/site.sacct --fleet 1xA100-40GB --multi-gpu split --policy none/edf --policy count/cedf --json | python3 -c "import json, sys; rows = json.load(sys.stdin); print(json.dumps([{key: row[key] for key in ('policy', 'rank', 'kept', 'dropped', 'unfit', 'as_it_was')} for row in rows], indent=1))"
smartmig simulate --jobs in/site.sacct --fleet 1xH200-141GB --multi-gpu one
smartmig simulate --jobs in/site.sacct --fleet 1xA100-40GB --where user=ann --where partition=gpu --estimates exact --json | python3 -c "import json, sys; run = json.load(sys.stdin); print(run['jobs'], run['dropped']['by_reason'], run['assumptions']['estimates'])"
smartmig workload import in/site.sacct --where account=phy,bio 2> /dev/null
smartmig compare --jobs in/site.sacct --sweep gpus=1,2 --target late_pct=1 --policy none/edf --policy count/cedf
smartmig compare --jobs in/site.sacct --where user=zoe
smartmig compare --jobs in/site.sacct --where team=bio
smartmig compare --jobs in/site.sacct --where user
smartmig compare --rate 4 --where user=ann
smartmig workload stats in/plain.sacct
