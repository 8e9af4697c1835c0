# One line per test program: berth_unit_test(policy file), or berth_double_test
berth_double_test(policy features)
berth_double_test(policy gpn)
berth_double_test(policy parse)
berth_unit_test(policy view)
