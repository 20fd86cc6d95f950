"""What only S3 needs: its client and its presigned URLs."""
