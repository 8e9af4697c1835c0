target_sources(berth_cli PRIVATE src/cli/main.c)
