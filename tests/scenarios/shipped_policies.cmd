# What is shipped is found by its name, also where no folder data/ is.
smartmig compare --days 3 --policy static:7,7,4-3,4-2-1,4-2-1,3-3,3-3,2-2-1-1-1/cedf --policy mean-field/cedf
smartmig compare --days 1 --fleet 8xH100-80GB --policy none/cedf --policy mean-field/cedf
