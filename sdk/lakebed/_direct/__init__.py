"""Writing to an object store without the server."""
