"""Pull requests, their reviews and comments, and the checks of commits."""
