# Sources of this folder: berth_twice(src/learn/file.c ...)
