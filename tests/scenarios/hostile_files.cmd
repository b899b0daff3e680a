# Small files that would take very much memory or time are refused with one line.
python3 -c "import gzip, sys; sys.stdout.buffer.write(gzip.compress(b'0' * (65 << 20), 1))" | smartmig workload stats /dev/stdin
python3 -c "print(','.join('c%d' % i for i in range(200000)))" | smartmig workload stats /dev/stdin
python3 -c "print('job_id,submit_s,duration_s,gpu_fraction,gpu_count'); [print('%d,0,1,1,65536' % i) for i in range(2000)]" | smartmig workload stats /dev/stdin --multi-gpu split
python3 -c "print('id,submit_s,deadline_s,kind,p1g_s,p2g_s,p3g_s,p4g_s,p7g_s\na,0,9,train,9,9,9,9,9\nb,9e9,9e9,infer,9,9,9,9,9')" | smartmig simulate --jobs /dev/stdin --records
smartmig simulate --jobs in/tiny.csv --tariff /dev/zero
smartmig simulate --jobs in/tiny.csv --events /dev/zero
smartmig simulate --jobs in/tiny.csv --costs /dev/zero
