# The counts that NVIDIA's documents and the papers give: 298, 19, 14 for an A100; 26, 5, 4 for an A30.
smartmig gpus A100-40GB --json | grep -E '"(legal_sets|maximal_placements|layouts)"'
smartmig gpus A30 --json | grep -E '"(legal_sets|maximal_placements|layouts)"'
smartmig gpus A100-40GB --layouts
smartmig gpus A100-40GB --from 4-2-1 --to 3-2-2
