target_sources(berth_objects PRIVATE
  src/base/arena.c
  src/base/ctx.c
  src/base/file.c
  src/base/file_read.c
  src/base/json.c
  src/base/json_get.c
  src/base/json_writer.c
  src/base/map.c
  src/base/nearest.c
  src/base/number.c
  src/base/rng.c
  src/base/sha256.c
  src/base/sort.c
  src/base/text.c
  src/base/utf8.c
  src/base/vec.c
)
