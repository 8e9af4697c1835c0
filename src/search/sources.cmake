target_sources(berth_objects PRIVATE
  src/search/cut.c
  src/search/fastest.c
  src/search/greedy.c
  src/search/heft.c
  src/search/heft_schedule.c
  src/search/m_etf.c
  src/search/m_sct.c
  src/search/problem.c
  src/search/random.c
  src/search/rank.c
  src/search/search.c
  src/search/search_pack.c
  src/search/search_room.c
  src/search/single.c
  ${metis_source}
)
