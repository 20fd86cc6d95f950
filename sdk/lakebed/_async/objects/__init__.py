"""Objects: download and upload, through the server or past it."""
