"""The laboratory of Wordline: papers reproduced, the engine validated, the published atlas.

It uses only the public names of the package `wordline`, and provides the commands ``reproduce``,
``validate`` and, without a workload of one's own, ``atlas``.
"""
