"""Tools that make parts of the docs again: the pictures and the outputs of the notebook."""
