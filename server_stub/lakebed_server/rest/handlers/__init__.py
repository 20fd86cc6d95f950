"""One function per operation: read the request, call the engine once, write the answer. No decisions here.

A handler gets the call, its parameters and, if the operation has a JSON body, the body (None when it is optional and
absent).
"""
