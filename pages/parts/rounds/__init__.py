"""The Rounds page's parts: the player, the cockpit, what lies a click away, a fork.

They know the run and where the visitor looks; forms and addresses are the visit's.
"""
