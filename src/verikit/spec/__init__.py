"""Specs of tensors: the grammar (`grammar`), and how tensors are held against one (`solve`, `explain`).

Pure: text and rows of tensors in, faults out.  Nothing here looks at anything.
"""
