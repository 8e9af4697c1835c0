target_sources(berth_objects PRIVATE src/base/arena.c src/base/ctx.c src/base/map.c src/base/sha256.c src/base/vec.c)
