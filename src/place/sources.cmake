target_sources(berth_objects PRIVATE
  src/place/auto.c
  src/place/crew.c
  src/place/families.c
  src/place/generate.c
  src/place/learned.c
  src/place/methods.c
  src/place/pace.c
  src/place/place.c
  src/place/solve.c
  src/place/study.c
  src/place/study_ratios.c
  src/place/study_report.c
  src/place/study_rows.c
  src/place/study_tables.c
  src/place/study_verdicts.c
  src/place/train.c
)
