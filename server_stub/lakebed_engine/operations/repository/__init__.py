"""Repositories: create, find and delete them."""
