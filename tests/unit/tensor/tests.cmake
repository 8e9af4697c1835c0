# One line per test program: berth_unit_test(tensor file), or berth_double_test
berth_unit_test(tensor blas)
berth_double_test(tensor blas_double)
berth_double_test(tensor gradient)
berth_unit_test(tensor ops)
berth_unit_test(tensor params)
berth_unit_test(tensor tape)
