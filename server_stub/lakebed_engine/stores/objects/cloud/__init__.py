"""The object stores of clouds, through obstore."""
