target_sources(berth_objects PRIVATE
  src/plan/export.c
  src/plan/export_onnx.c
  src/plan/export_openvino.c
  src/plan/fit.c
  src/plan/openvino_loaders.c
  src/plan/plan.c
  src/plan/providers.c
  src/plan/read.c
  src/plan/write.c
)
