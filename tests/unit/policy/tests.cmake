# One line per test program: berth_unit_test(policy file), or berth_double_test
