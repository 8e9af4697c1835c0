# One line per test program: berth_unit_test(learn file), or berth_double_test
berth_unit_test(learn checkpoint)
berth_unit_test(learn outlook)
berth_unit_test(learn refine)
berth_unit_test(learn settings)
berth_unit_test(learn faithful)
berth_double_test(learn loss)
berth_double_test(learn networks)
berth_unit_test(learn baselines)
