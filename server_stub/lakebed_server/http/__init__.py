"""HTTP: requests, responses, and the bodies and headers of both, with bounded memory."""
