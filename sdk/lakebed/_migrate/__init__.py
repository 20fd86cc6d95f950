"""Migrations into a Lakebed repository: from a server of the shared API, and from a DVC repository."""
