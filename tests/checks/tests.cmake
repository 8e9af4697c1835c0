# One line per script: berth_check_test(<name>), with its cases in <name>.sh
berth_check_test(check-banned)
berth_check_test(check-format)
berth_check_test(check-layers)
berth_check_test(check-shell)
berth_check_test(check-sizes)
berth_check_test(check-spdx)
berth_check_test(check-words)
