target_sources(berth_objects PRIVATE
  src/search/block.c
  src/search/block_order.c
  src/search/block_search.c
  src/search/exact.c
  src/search/exact_concurrent.c
  src/search/exact_placements.c
  src/search/fastest.c
  src/search/greedy.c
  src/search/heft.c
  src/search/heft_schedule.c
  src/search/problem.c
  src/search/random.c
  src/search/rank.c
  src/search/search.c
  src/search/search_room.c
  src/search/single.c
)
