"""What a request of the REST API needs to be permitted, and for whom it acts."""
