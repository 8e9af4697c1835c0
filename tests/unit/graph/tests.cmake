# One line per test program: berth_unit_test(folder file [libraries])
berth_unit_test(graph fingerprint)
berth_unit_test(graph build)
berth_unit_test(graph check)
