# writes
smartmig bound --workload paper-fixed --rate 8 --count 30 --fleet 2xA100-40GB --costs free --program-limit 0 --rounds 60 --certificate cert.json
smartmig bound --workload paper-fixed --rate 8 --count 30 --fleet 2xA100-40GB --costs free --check cert.json
smartmig bound --workload paper-fixed --rate 8 --count 30 --fleet 2xA100-40GB --costs free --check cert.json --json
smartmig bound --workload paper-fixed --rate 8 --count 30 --fleet 2xA100-40GB --costs free --program-limit 0 --rounds 60 --json --threads 1
sed 's/"value": 10[.]/"value": 11./' cert.json > claims_more.json
smartmig bound --workload paper-fixed --rate 8 --count 30 --fleet 2xA100-40GB --costs free --check claims_more.json
smartmig bound --workload paper-fixed --rate 8 --count 30 --fleet 3xA100-40GB --costs free --check cert.json
smartmig bound --workload paper-fixed --rate 8 --count 31 --fleet 2xA100-40GB --costs free --check cert.json
smartmig bound --workload paper-fixed --rate 8 --count 30 --seed 2 --fleet 2xA100-40GB --costs free --check cert.json
smartmig bound --workload paper-fixed --rate 8 --count 30 --fleet 2xA100-40GB --costs free --energy-weight 1e-6 --check cert.json
head -c 3000 cert.json > cut.json
smartmig bound --workload paper-fixed --rate 8 --count 30 --fleet 2xA100-40GB --costs free --check cut.json
smartmig bound --workload paper-fixed --rate 8 --count 30 --fleet 2xA100-40GB --costs free --check absent.json
smartmig bound --workload paper-fixed --rate 8 --count 30 --rounds 0
smartmig bound --workload paper-fixed --rate 8 --count 30 --fleet 2xA100-40GB --certificate no/such/folder/cert.json
smartmig compare --workload paper-fixed --rate 8 --count 8 --days 3 --fleet 2xA100-40GB --costs free --preemption free --policy greedy --policy count/cedf --bound
