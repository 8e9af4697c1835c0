target_sources(berth_objects PRIVATE
  src/store/database.c
  src/store/location.c
  src/store/store.c
)
