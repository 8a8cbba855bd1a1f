"""What may be taken away: the bundle, the report, the notebook and the code to repeat a run.

No function here takes an exact type as an argument.
"""
