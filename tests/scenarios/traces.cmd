# needs ../shared/traces
smartmig simulate --jobs traces/dev_openb2023.csv.gz --fleet 32xA100-40GB
smartmig simulate --jobs traces/dev_openb2023.swf.gz --fleet 32xA100-40GB --policy static:4-2-1*32/slowest-on-time
smartmig simulate --jobs traces/pwa_nasa_ipsc_1993_3.1_cln.swf.gz --fleet 32xA100-40GB --multi-gpu one
smartmig compare --jobs traces/dev_openb2023.csv.gz --fleet 32xA100-40GB --split-days --policy none/edf --policy static:3-2-2*32/edf --policy greedy
