"""Shows operators how a server is doing: readiness, the endpoint of metrics, samples, and traces."""
