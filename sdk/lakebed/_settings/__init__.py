"""Settings of a client: endpoint, credentials and the default lake."""
