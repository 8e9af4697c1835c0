target_sources(berth_objects PRIVATE
  src/group/audit.c
  src/group/colocate.c
  src/group/fused.c
  src/group/pattern.c
)
