"""Handlers for users, groups, policies, keys, sign-in and the access history."""
