target_sources(berth_objects PRIVATE src/read/dagbench.c src/read/infer.c src/read/ir.c src/read/moirai.c src/read/msr.c src/read/onnx.c src/read/read.c src/read/source.c)
