berth_twice(
  src/learn/policy.c
  src/learn/settings.c
)
