"""Multipart uploads to object stores."""
