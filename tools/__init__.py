"""The programs that make and check what is generated. Nothing that ships imports this package."""
