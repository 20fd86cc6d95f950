"""The files of a commit's tree: ranges, patches, layers and metaranges as Parquet, and their ids."""
