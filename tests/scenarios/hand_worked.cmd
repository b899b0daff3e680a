# Three jobs on one whole A100 by deadline. Free: b runs 0-2, a 2-5, c comes at 5 with the nearest deadline and runs 5-6, a goes on 6-13.
# Nothing is late; 13 s at 248.5 W are 3230.5 J.
smartmig simulate --jobs in/tiny.csv --fleet 1xA100-40GB --policy none/edf --costs free --preemption free --json
# Real: at 5 s a may be displaced (c would end at 13, 4 s late). It saves until 10, c runs 10-11, 2 s late, a restores until 21 and has
# 7 s left: 28 s at 248.5 W are 6958 J.
smartmig simulate --jobs in/tiny.csv --fleet 1xA100-40GB --policy none/edf --json
# No preemption: a runs 2-12, c 12-13 and is 4 s late.
smartmig simulate --jobs in/tiny.csv --fleet 1xA100-40GB --policy none/edf --preemption none
# The GPU is lost at 4 s and back at 20: a starts afresh, after c: the 7g is made until 20.24, c 20.24-21.24, a until 31.24.
smartmig simulate --jobs in/tiny.csv --fleet 1xA100-40GB --policy none/edf --preemption none --events in/events.csv
