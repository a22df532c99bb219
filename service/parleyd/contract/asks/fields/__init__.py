"""The fields of a form: twelve types, each by what sets it apart (spec asks FO2 to FO7).

The types that are alike share a file; `types.py` lists all.
"""
