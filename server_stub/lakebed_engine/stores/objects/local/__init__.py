"""The object store on a local file system (`local://`)."""
