target_sources(berth_objects PRIVATE
  src/cost/link.c
)
