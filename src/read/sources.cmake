target_sources(berth_objects PRIVATE
  src/read/csv.c
  src/read/dagbench.c
  src/read/given.c
  src/read/given_json.c
  src/read/infer.c
  src/read/ir.c
  src/read/ir_layer.c
  src/read/ir_link.c
  src/read/ir_parse.c
  src/read/ir_text.c
  src/read/moirai.c
  src/read/msr.c
  src/read/onnx.c
  src/read/read.c
  src/read/sized.c
  src/read/source.c)
