"""Checks of the wording of openapi.yaml, of prose, and of tests."""
