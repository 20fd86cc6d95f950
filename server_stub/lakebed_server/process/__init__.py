"""The server process: wiring, start, stop, workers and logs."""
