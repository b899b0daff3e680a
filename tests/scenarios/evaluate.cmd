# writes
smartmig train --recipe in/tiny_recipe.toml --out a.safetensors
smartmig evaluate --policy a.safetensors --days 3
smartmig evaluate --policy count/cedf --fleet 2xA100-40GB --rate 4 --days 2 --json | grep -v low95 | head -12
smartmig compare --policy none/cedf --policy mean-field:a.safetensors/cedf --fleet 2xA100-40GB --rate 4 --days 2 --json | grep -A 4 decisions
smartmig evaluate --policy a.safetensors --fleet 2xH100-80GB
smartmig evaluate --policy absent.safetensors
smartmig compare --policy one-gpu:a.safetensors/cedf --fleet 1xA100-40GB
head -c 3000 a.safetensors > cut.safetensors; smartmig evaluate --policy cut.safetensors 2>&1 | sed 's/[0-9a-f]\{12\}\.\.\./DIGEST/g'
cp a.safetensors changed.safetensors; printf '\x01' | dd of=changed.safetensors bs=1 seek=6000 conv=notrunc status=none; smartmig evaluate --policy changed.safetensors 2>&1 | sed 's/[0-9a-f]\{12\}\.\.\./DIGEST/g'
sed 's/kind = .*/kind = "two-level"/' in/tiny_recipe.toml > two.toml; smartmig train --recipe two.toml; smartmig evaluate --policy two-placer.safetensors --days 2 | sed -n '1,3p'
