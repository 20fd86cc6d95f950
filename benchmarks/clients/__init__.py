"""`make bench-clients`: the SDK and the command beside the clients that people use instead, on one Lakebed server."""
