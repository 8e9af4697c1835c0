berth_twice(
  src/learn/checkpoint.c
  src/learn/policy.c
  src/learn/settings.c
)
