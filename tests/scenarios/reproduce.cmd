# writes
smartmig reproduce --list
smartmig reproduce fig2
smartmig reproduce fig2 --json
smartmig reproduce one-gpu --quick --out out
head -12 out/reproduction.md
cd out && ls
# Bad input: one line each, exit status 2.
smartmig reproduce
smartmig reproduce fig1
smartmig reproduce fig2 --all
smartmig reproduce fig2 --threads -1
smartmig reproduce fig2 --out in/tiny.csv
