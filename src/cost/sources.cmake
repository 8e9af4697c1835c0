target_sources(berth_objects PRIVATE
  src/cost/build.c
  src/cost/given.c
  src/cost/link.c
  src/cost/order.c
  src/cost/roofline.c
  src/cost/rules.c
)
