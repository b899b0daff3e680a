# writes
# One thread and two, and one run and the next: the same bytes.
smartmig compare --days 4 --rate 10 --threads 1 --estimate-error .3 --json >one; smartmig compare --days 4 --rate 10 --threads 2 --estimate-error .3 --json >two; cmp one two && echo same
smartmig compare --days 4 --rate 10 --threads 2 --estimate-error .3 --json >again; cmp two again && echo same
smartmig compare --days 2 --threads 1 --out a >/dev/null; smartmig compare --days 2 --threads 2 --out b >/dev/null; diff -r a b && echo same
smartmig search-static --rate 5 --fleet 2xA100-40GB --train-days 4 --days 2 --threads 1 >one; smartmig search-static --rate 5 --fleet 2xA100-40GB --train-days 4 --days 2 --threads 2 >two; cmp one two && echo same
smartmig simulate --days 2 --costs real --preemption checkpoint --out c >one; smartmig simulate --days 2 --costs real --preemption checkpoint --out d >two; cmp one two && diff -r c d && echo same
smartmig simulate --policy static:4-2-1*8/random --json | grep -v wall_s >one; smartmig simulate --policy static:4-2-1*8/random --json | grep -v wall_s >two; cmp one two && echo same
# Another seed is another day.
smartmig simulate --seed 2 >three; smartmig simulate >four; cmp -s three four || echo different
