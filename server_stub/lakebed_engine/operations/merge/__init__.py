"""Merges, reverts and cherry-picks."""
