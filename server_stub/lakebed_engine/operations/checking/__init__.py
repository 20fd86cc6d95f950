"""The parts of `fsck`, one for each kind of thing that is checked. `operations.fsck` puts them together."""
