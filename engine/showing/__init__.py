"""Figures, frames and sentences: what pages and notebooks draw of released and true values.

``frames`` makes tidy frames of events, estimates and comparisons; a module for each thing shown
draws them: ``rounds``, ``lattice``, ``touched``, ``tables``, ``noise_shape``, ``runs``, ``plan``,
``contenders`` (mechanisms beside each other), ``versus`` (two settings), ``learning`` and
``learning_rounds``. ``figure``, ``template``, ``guides``, ``line_ends``, ``palette``, ``texts`` and
``badges`` hold what all of them share. ``sheets`` puts figures together, ``pictures`` makes them
static, ``html`` and ``notebook`` say what a notebook shows of each value.

Nothing here knows a session or a page, and nothing here computes an answer.
"""
