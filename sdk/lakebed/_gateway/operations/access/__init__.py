"""Calls about access: users, groups, policies, keys, and the rules that protect branches."""
