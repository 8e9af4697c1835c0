target_sources(berth_objects PRIVATE
  src/place/auto.c
  src/place/crew.c
  src/place/families.c
  src/place/generate.c
  src/place/learned.c
  src/place/methods.c
  src/place/pace.c
  src/place/place.c
  src/place/solve.c
)
