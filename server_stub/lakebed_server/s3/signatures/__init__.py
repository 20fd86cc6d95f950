"""Checks of signed requests: Signature Version 4 and 2, in headers and in the query."""
