"""What `s3://` needs besides obstore, by botocore: credentials, signed addresses and multipart uploads."""
