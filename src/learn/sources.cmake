target_sources(berth_objects PRIVATE
  src/learn/settings.c
)
