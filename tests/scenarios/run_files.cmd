# writes
smartmig simulate --jobs in/tiny.csv --fleet 1xA100-40GB --policy none/edf --out out/run >/dev/null
ls -a out/run
cat out/run/jobs.csv
cat out/run/layouts.csv
cat out/run/energy.csv
cat out/run/timeline.csv
# A second run takes the files' place.
smartmig simulate --jobs in/tiny.csv --fleet 1xA100-40GB --policy count/edf --costs free --preemption free --out out/run >/dev/null
cat out/run/jobs.csv
cat out/run/layouts.csv
smartmig compare --jobs in/tiny.csv --fleet 1xA100-40GB --policy none/edf --policy count/edf --out out/compare >/dev/null
ls -a out/compare
cat out/compare/days.csv
