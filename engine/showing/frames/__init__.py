"""Events, estimates and insights as tidy frames, for charts, tables and widgets alike.

Columns carry fixed names. What users wrote (names of attributes, values) is only ever a value in a
column, so that no header can be mistaken for a field path. pandas is imported when a frame is made.
"""
