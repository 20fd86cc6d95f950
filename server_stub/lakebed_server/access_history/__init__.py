"""The access history: who read, wrote, listed or was refused what."""
