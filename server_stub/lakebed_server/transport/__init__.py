"""Connections of clients: the HTTP protocol with its bounds, TLS, and files that the kernel sends."""
