# One line per program: berth_bench(<name> [further sources])
