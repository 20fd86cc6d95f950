"""Tables of a ref as files that Spark reads."""
