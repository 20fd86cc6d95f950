"""Users, groups, policies and access keys of a lake."""
