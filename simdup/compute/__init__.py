"""Arrays in, arrays out, faster: hashes, compiled loops and worker processes.

Read `hashing` first. `kernels` holds the loops that numba compiles, `compiled` decides when
loading them pays, and `worker_pool` runs tasks on several cores.
"""
