"""Who signed a request: Signature Version 4 and 2, in headers and in the query."""
