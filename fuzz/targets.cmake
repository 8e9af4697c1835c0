# One line per reader: berth_fuzz_target(<reader>), with fuzz/<reader>.c and fuzz/corpus/<reader>/
berth_fuzz_target(devices)
berth_fuzz_target(ir)
berth_fuzz_target(msr)
berth_fuzz_target(moirai)
berth_fuzz_target(dagbench)
berth_fuzz_target(onnx)
berth_fuzz_target(policy)
berth_fuzz_target(splice)
