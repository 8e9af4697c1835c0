target_sources(berth_objects PRIVATE
  src/runtime/attribute.c
  src/runtime/compare.c
  src/runtime/inputs.c
  src/runtime/job.c
  src/runtime/npy.c
  src/runtime/ort.c
  src/runtime/ort_value.c
  src/runtime/ort_work.c
  src/runtime/runtime.c
  src/runtime/scratch.c
  src/runtime/stats.c
  src/runtime/trace.c
  src/runtime/trial.c
  src/runtime/weights.c
  src/runtime/worker.c
)
