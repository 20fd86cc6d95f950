"""The event log: an event for each change of a repository, written together with the change."""
