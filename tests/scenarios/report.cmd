# writes
# What a report says at its end: how to make it again, and of what.
smartmig compare --jobs in/tiny.csv --fleet 1xA100-40GB --policy none/edf --policy 'static:4-3/edf' --threads 2 --learning-curve in/curve.csv --out out --json >printed.json
sed -n '/<footer>/,/<\/footer>/p' out/report.html | grep -v 'data in the program'
sha256sum in/tiny.csv in/curve.csv
# The page has what --json prints.
python3 -c "import json; page = open('out/report.html').read(); data = page.split('id=\"result\">')[1].split('</script>')[0]; print(json.loads(data) == json.load(open('printed.json')))"
grep -o '<p class="summary">.*</p>' out/report.html
grep -o '<h2 [^>]*>[^<]*' out/report.html
# One that cannot be shown is refused before anything runs.
smartmig compare --days 1 --learning-curve in/curve.csv
smartmig simulate --learning-curve in/curve.csv
smartmig simulate --learning-curve in/no_curve.csv --out none; test -e none || echo nothing is written
smartmig simulate --learning-curve in/absent.csv --out none
