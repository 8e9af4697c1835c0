# One line per test program: berth_unit_test(folder file [libraries])
berth_unit_test(place generate)
berth_unit_test(place place)
berth_unit_test(place solve)
