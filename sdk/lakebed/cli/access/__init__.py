"""The verbs about users, groups, policies, and what they allow."""
