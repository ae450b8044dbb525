"""Random numbers by counter, as examples/common/hash.hpp: number k of trajectory i of an ensemble `seed`, in (0, 1)."""
import numpy as np

def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))

def uniform(seed, i, k):
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        bits = mix(mix(np.uint64(seed) + golden * (np.uint64(1) + np.asarray(i, np.uint64)))
                   + golden * (np.uint64(1) + np.asarray(k, np.uint64)))
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0 ** -52

def normal(seed, i, k):
    """Standard normal, of the uniform numbers 2k and 2k + 1."""
    k = 2 * np.asarray(k, np.uint64)
    return np.sqrt(-2 * np.log(uniform(seed, i, k))) * np.cos(6.283185307179586 * uniform(seed, i, k + np.uint64(1)))
