target_sources(berth_objects PRIVATE
  src/search/problem.c
  src/search/problem_rules.c
  src/search/search.c
)
