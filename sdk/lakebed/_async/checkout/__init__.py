"""Working directories: a branch checked out into a local directory."""
