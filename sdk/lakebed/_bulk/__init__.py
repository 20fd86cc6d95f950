"""What bulk transfers and working directories share, without any network: local trees, memories of them, progress.

Under `lakebed._async.bulk` and its sync twin, over `errors`. Plain blocking code; the async door runs it in threads.
"""
