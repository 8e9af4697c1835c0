target_sources(berth_objects PRIVATE
  src/simulate/concurrent.c
  src/simulate/contiguous.c
  src/simulate/loads.c
  src/simulate/memory.c
  src/simulate/moves.c
  src/simulate/ordered.c
  src/simulate/queued.c
  src/simulate/ready.c
  src/simulate/refusal.c
  src/simulate/serial.c
  src/simulate/sim.c
  src/simulate/timeline.c
)
