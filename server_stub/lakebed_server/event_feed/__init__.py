"""Live feeds of events: one poller for each repository of a process, and its listeners."""
