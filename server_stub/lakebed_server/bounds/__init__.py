"""What clients may take of this server: connections, time, and expensive work in parallel."""
