"""What cannot be translated from async to sync: two modules with the same names, one for each API."""
