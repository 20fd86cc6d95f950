"""Tables as files: schemas, partitions, reading, writing and comparing. Blocking code over pyarrow, imported late."""
