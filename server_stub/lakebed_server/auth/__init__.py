"""Who is calling: access keys, tokens and the check of every request."""
