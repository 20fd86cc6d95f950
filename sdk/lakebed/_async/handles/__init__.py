"""Handles: lake, repository, ref, branch, tag, task and workspace."""
