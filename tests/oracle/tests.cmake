# One line per test: berth_oracle_test(<name> [arguments])
berth_oracle_test(inspect_json)
berth_oracle_test(fingerprint)
