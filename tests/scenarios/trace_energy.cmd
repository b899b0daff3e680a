# Two jobs on two whole A100s: the last submit is at 100 s, `short` ends at 150 s on GPU 1 and `long` at 1000 s on GPU 0. GPU 1 is charged
# until 150 s: (1000 + 50) * 248.5 + 100 * 40 = 264925 J. Until the last completion it would be 34000 J more.
smartmig simulate --jobs in/long_tail.csv --fleet 2xA100-40GB --policy none/edf --costs free --preemption free --json | grep -E '"(energy_j|makespan_s|span_s|length_s)"'
# On 1g slices the run is seven times as long. Another policy beside it changes no number of either.
smartmig compare --jobs in/long_tail.csv --fleet 2xA100-40GB --policy none/edf --policy static:1-1-1-1-1-1-1*2/first-fit --costs free --preemption free
smartmig compare --jobs in/long_tail.csv --fleet 2xA100-40GB --policy static:1-1-1-1-1-1-1*2/first-fit --costs free --preemption free --json | grep -A1 -E '"(energy_j|span_s)"'
# The bound follows the same rule: 2 * 100 * 40 J up to the last submit, and what the jobs force.
smartmig bound --jobs in/long_tail.csv --fleet 2xA100-40GB --costs free
# Another board divides the times; the factor, and how sure it is, stand beside the result.
smartmig simulate --jobs in/long_tail.csv --fleet 2xH100-80GB --policy none/edf --costs free --preemption free
smartmig simulate --jobs in/long_tail.csv --fleet 2xH100-80GB --policy none/edf --costs free --preemption free --speed-factor H100-80GB=4 --json | grep -A2 -E '"(length_s|speeds)"'
smartmig simulate --jobs in/long_tail.csv --fleet 2xH100-80GB --policy none/edf --costs free --preemption free --trace-board H100-80GB --json | grep -A2 -E '"(length_s|speeds)"'
smartmig compare --jobs in/long_tail.csv --fleet 1xA100-40GB+1xH100-80GB --policy none/edf --trace-board H100-80GB --speed-factor A100-40GB=0.5
# Bad options: one line each, exit status 2.
smartmig simulate --fleet 2xH100-80GB --speed-factor H100-80GB
smartmig compare --fleet 2xH100-80GB --speed-factor A30=2
smartmig bound --trace-board H100-80GB
