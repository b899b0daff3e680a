smartmig
smartmig simulat
smartmig workload
smartmig workload impor
smartmig simulate --polcy none/edf
smartmig simulate none/edf
smartmig simulate --rate fast
smartmig simulate --policy
smartmig simulate --policy none/edf --policy none/met
smartmig compare --days 1 --policy none/edf none/met
smartmig --version
