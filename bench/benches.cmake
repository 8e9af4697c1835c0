# One line per program: berth_bench(<name> [further sources])
berth_bench(read bench/big_onnx.c bench/timing.c)
berth_bench(simulate bench/timing.c)
berth_bench(tensor bench/timing.c)
