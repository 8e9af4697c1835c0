# One line per test program: berth_unit_test(tensor file), or berth_double_test
berth_double_test(tensor gradient)
