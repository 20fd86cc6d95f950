"""The only user of the generated client: it builds requests and reads responses, and sends nothing.

Only this package imports `lakebed_api`, and only the two parts of it without I/O: `_get_kwargs` and `from_dict`. Each
function here makes one `Call`. Generated modules are imported when first used: importing all of them takes a quarter of
a second.
"""
