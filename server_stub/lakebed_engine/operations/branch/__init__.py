"""Branches and tags: their records, the group commit of a branch, and protection."""
