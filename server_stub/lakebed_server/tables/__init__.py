"""Rows of tables. Processes of their own read the files, so that a hostile file cannot stop or fill the server."""
