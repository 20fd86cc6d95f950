"""The object stores of clouds, over obstore."""
