# Sources of this folder: berth_twice(src/policy/file.c ...)
