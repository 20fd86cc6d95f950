"""HTTP: the protocol, and the bodies and headers of requests and responses, with bounded memory."""
