# One line per test program: berth_unit_test(folder file [libraries])
berth_unit_test(read ir)
berth_unit_test(read source ZLIB::ZLIB)
berth_unit_test(read ir_corpus)
