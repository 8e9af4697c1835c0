# One line per test: berth_oracle_test(<name> [arguments])
