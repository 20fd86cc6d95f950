"""Multipart uploads through the server: the uploads, their parts, and how they end."""
