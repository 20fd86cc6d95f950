"""This process: forks, exit, and a full disk."""
