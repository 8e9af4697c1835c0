target_sources(berth_objects PRIVATE
  src/search/block.c
  src/search/block_order.c
  src/search/block_search.c
  src/search/exact.c
  src/search/exact_concurrent.c
  src/search/exact_placements.c
  src/search/problem.c
  src/search/problem_rules.c
  src/search/search.c
)
