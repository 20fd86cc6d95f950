"""Sign-in of people and programs with a provider, a directory or a platform."""
