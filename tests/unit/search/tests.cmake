# One line per test program: berth_unit_test(folder file [libraries])
berth_unit_test(search problem)
berth_unit_test(search flow)
berth_unit_test(search min_cut)
