"""The transport: connections, bodies and pagination."""
