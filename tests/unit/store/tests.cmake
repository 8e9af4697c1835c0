# One line per test program: berth_unit_test(folder file [libraries])
berth_unit_test(store store SQLite::SQLite3)
berth_unit_test(store faults SQLite::SQLite3)
