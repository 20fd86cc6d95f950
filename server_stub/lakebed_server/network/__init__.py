"""The network: TLS, trusted proxies, clients of this machine, listeners, SIGHUP."""
