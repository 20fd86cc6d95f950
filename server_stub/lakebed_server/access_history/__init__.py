"""The access history: the reads, writes, lists and refusals of each repository, with their users."""
