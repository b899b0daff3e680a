# What is shipped is found by its name, also where no folder data/ is.
smartmig compare --days 3 --policy static:7,7,4-3,4-2-1,4-2-1,3-3,3-3,2-2-1-1-1/cedf --policy mean-field/cedf
smartmig compare --days 1 --fleet 8xH100-80GB --policy none/cedf --policy mean-field/cedf
smartmig compare --days 3 --fleet 1xA100-40GB --rate 2.5 --policy static:3-2-2/cedf --policy one-gpu/shortest-remaining
smartmig compare --days 3 --deadlines 2:4 --preemption none --policy static:7*2,4-3*2,4-2-1*2,2-2-2-1*2/slowest-on-time --policy static:7*2,4-3*2,4-2-1*2,2-2-2-1*2/learned
smartmig compare --days 1 --preemption none --policy static:4-3*8/learned
smartmig compare --days 2 --policy static:7,7,4-3,4-2-1,4-2-1,3-3,3-3,2-2-1-1-1/cedf --policy mean-field:two-level-layouts/learned:two-level-placer
