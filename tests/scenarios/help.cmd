# `help` and `--help` say the same; unknown commands and shells are named.
diff <(smartmig help compare) <(smartmig compare --help) && diff <(smartmig help) <(smartmig --help) && echo same
smartmig help workload stats | head -3
smartmig help compair
smartmig completion csh
smartmig help --man-pages absent
smartmig help --man gpus | head -8
