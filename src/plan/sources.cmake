target_sources(berth_objects PRIVATE
  src/plan/fit.c
  src/plan/plan.c
  src/plan/read.c
  src/plan/write.c
)
