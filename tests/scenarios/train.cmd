# writes
smartmig train --recipe in/tiny_recipe.toml --out a.safetensors --curve a.csv --threads 1
smartmig train --recipe in/tiny_recipe.toml --out b.safetensors --curve b.csv --threads 2
cmp a.safetensors b.safetensors && cmp a.csv b.csv
smartmig train --recipe in/tiny_recipe.toml --out c.safetensors --stop-after 1
ls c.safetensors*
smartmig train --recipe in/tiny_recipe.toml --out c.safetensors
smartmig train --recipe in/tiny_recipe.toml --out c.safetensors --curve c.csv --resume
cmp a.safetensors c.safetensors && cmp a.csv c.csv && ls c.safetensors*
smartmig train --recipe in/tiny_recipe.toml --out c.safetensors --resume
# Ctrl-C, once the first checkpoint is there: the block ends, which is soon here.
sed 's/steps = 256/steps = 25600000/' in/tiny_recipe.toml > long.toml
timeout --foreground -k 9 60 "$SMARTMIG" train --recipe long.toml --out d.safetensors >stopped.txt 2>&1 & pid=$!; until ls d.safetensors.checkpoint >/dev/null 2>&1; do sleep .05; done; kill -INT $pid; wait $pid; echo "status $?"; sed 's/[0-9][0-9]* iter/N iter/; s/, [0-9]* steps/, N steps/; /^ET/d' stopped.txt; ls d.safetensors*
timeout --foreground -k 9 60 "$SMARTMIG" train --recipe long.toml --out e.safetensors >stopped.txt 2>&1 & pid=$!; until ls e.safetensors.checkpoint >/dev/null 2>&1; do sleep .05; done; kill -TERM $pid; wait $pid; echo "status $?"; sed 's/[0-9][0-9]* iter/N iter/; s/, [0-9]* steps/, N steps/; /^ET/d' stopped.txt; ls e.safetensors*
sed 's/kind = .*/kind = "mean-fild"/' in/tiny_recipe.toml > bad.toml; smartmig train --recipe bad.toml
sed 's/hidden/hiden/' in/tiny_recipe.toml > bad.toml; smartmig train --recipe bad.toml
smartmig train --recipe absent.toml
smartmig train --recipe in/tiny_recipe.toml --out absent/a.safetensors
smartmig train --recipe in/tiny_recipe.toml --threads -1
smartmig train
ls *.safetensors*
