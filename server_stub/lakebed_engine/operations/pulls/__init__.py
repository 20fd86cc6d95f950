"""Pull requests: records, timelines, and the merge of a pull request."""
