"""Tables as files: schemas, partitions, reading, writing and comparing. Blocking code over pyarrow, imported late.

Under the doors' `tables`, which fetch and store bytes; nothing here knows the network.
"""
