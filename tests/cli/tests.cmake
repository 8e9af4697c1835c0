# One line per test: berth_cli_test(<name>), see README.md
berth_cli_test(version)
