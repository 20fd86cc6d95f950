"""The operations of the REST API, grouped by resource."""
