target_sources(berth_objects PRIVATE
  src/graph/access.c
  src/graph/build.c
  src/graph/census.c
  src/graph/check.c
  src/graph/constant.c
  src/graph/dot.c
  src/graph/element.c
  src/graph/fingerprint.c
  src/graph/flops.c
  src/graph/flops_product.c
  src/graph/kind.c
  src/graph/measure.c
  src/graph/words.c
  src/graph/work.c
)
