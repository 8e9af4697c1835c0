# The command is a program, not a library: each test compiles the files it is about.
berth_unit_test(cli options)
target_sources(unit_cli_options PRIVATE src/cli/nearest.c src/cli/options.c)
berth_unit_test(cli output)
target_sources(unit_cli_output PRIVATE src/cli/nearest.c src/cli/options.c src/cli/output.c src/cli/report.c
               src/cli/shapes.c src/cli/signals.c src/cli/tensors.c)
