"""Where requests come from, and how the listeners speak: TLS, trusted proxies, clients of this machine, SIGHUP."""
