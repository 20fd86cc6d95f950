"""Authentication: access keys, tokens and the check of every request."""
