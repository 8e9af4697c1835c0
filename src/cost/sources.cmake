target_sources(berth_objects PRIVATE
  src/cost/audit.c
  src/cost/build.c
  src/cost/given.c
  src/cost/link.c
  src/cost/order.c
  src/cost/profile.c
  src/cost/roofline.c
  src/cost/rules.c
)
