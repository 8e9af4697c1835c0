target_sources(berth_cli PRIVATE
  src/cli/inspect.c
  src/cli/inspect_dot.c
  src/cli/inspect_json.c
  src/cli/inspect_summary.c
  src/cli/inspect_table.c
  src/cli/main.c
  src/cli/options.c
  src/cli/output.c
  src/cli/report.c
  src/cli/shapes.c
  src/cli/signals.c
  src/cli/tensors.c
  src/cli/usage.c
)
