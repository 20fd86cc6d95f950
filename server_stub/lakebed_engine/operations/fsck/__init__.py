"""`fsck`: the check of a repository, one module for each kind of thing that it checks."""
