berth_twice(
  src/learn/faithful.c
  src/learn/checkpoint.c
  src/learn/policy.c
  src/learn/rollout.c
  src/learn/settings.c
)
