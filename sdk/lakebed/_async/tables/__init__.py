"""Tables: read, write and compare them."""
