target_sources(berth_objects PRIVATE
  src/device/pattern.c
  src/device/placement.c
  src/device/profiles.c
  src/device/set.c
)
