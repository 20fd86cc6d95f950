"""S3 responses: XML, errors and fixed answers."""
