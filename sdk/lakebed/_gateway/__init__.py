"""The only user of the generated client: it builds requests and reads answers, and sends nothing.

Only this package imports `lakebed_api`, and only the two halves of it that hold no I/O: `_get_kwargs` and
`from_dict`. Each function here makes one `Call`. Generated modules are imported when first used: together they cost
a quarter of a second.
"""
