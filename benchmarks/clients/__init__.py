"""`make bench-clients`: the SDK and the command with other clients of one Lakebed server."""
