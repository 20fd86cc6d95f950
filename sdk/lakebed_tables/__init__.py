"""Tables as Arrow data, for the SDK and the server: schemas, partitions of paths, and differences of rows. No I/O."""
