"""HTTP as values: requests, retries and connections."""
