target_sources(berth_objects PRIVATE
)
