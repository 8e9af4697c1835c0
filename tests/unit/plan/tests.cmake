# One line per test program: berth_unit_test(folder file [libraries])
berth_unit_test(plan export)
berth_unit_test(plan file)
berth_unit_test(plan fit)
