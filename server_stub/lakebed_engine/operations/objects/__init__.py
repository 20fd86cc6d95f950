"""Objects: read, stage and copy them."""
