# One line per test program: berth_unit_test(folder file [libraries])
berth_unit_test(group colocate)
berth_unit_test(group fused)
berth_unit_test(group models)
