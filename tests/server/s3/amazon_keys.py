"""The keys of Amazon's examples, and keys with unusual characters."""

from __future__ import annotations

AMAZON_KEY, AMAZON_SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


ODD_KEYS = [
    "main/plain.csv",
    "main/with space",
    "main/plus+and%percent",
    "main//double//slash",
    "main/trailing/",
    "main/ünï/日本/🙂",
    "main/quote'\"<>&;=?#[]@!$()*,:|\\^`{}~",
    "main/./dot/../dots",
    "main/%2F%20",
    "main/-._~",
    "main/control\x01\x7f",
]
