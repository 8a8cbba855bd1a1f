"""Adaptive private marginals: AIM+GReM, ResidualPlanner and what lies between."""
