target_sources(berth_objects PRIVATE
  src/device/devices_json.c
  src/device/devices_write.c
  src/device/pattern.c
  src/device/placement.c
  src/device/profiles.c
  src/device/set.c
)
