"""Authorization: users, groups, policies, and the permissions that each operation needs."""
