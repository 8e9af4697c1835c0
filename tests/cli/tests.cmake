# One line per test: berth_cli_test(<name>), see README.md
