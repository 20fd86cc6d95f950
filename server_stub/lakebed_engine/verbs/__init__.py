"""The verbs of the engine, by what they are about. Under `engine`, which is all of them; over `operations`."""
