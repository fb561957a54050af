"""Arrays in, arrays out, faster: hashes, compiled loops and worker processes.

Read `hashing` first. `kernels` holds the loops that numba compiles, `compiled` decides when
loading them pays, `worker_pool` runs tasks on several cores, and `buckets` divides more keys than
memory should hold.
"""
