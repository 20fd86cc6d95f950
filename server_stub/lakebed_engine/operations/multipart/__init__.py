"""Objects that arrive in parts through the server: the uploads, their parts, and how they end."""
