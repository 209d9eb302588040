"""Plants a fault in a dump of make.sh: a softplus with a threshold of 2 instead of 20. Above the threshold the result is
x itself, up to 0.13 too small. The operators after it compute with the wrong result."""
import sys

import h5py
import numpy

with h5py.File(sys.argv[1], "r+") as dump:
    x = dump["softplus/2/input/self"][()].astype(numpy.float64)
    planted = numpy.where(x > 2, x, numpy.log1p(numpy.exp(x))).astype(numpy.float32)
    product = planted * dump["mul/3/input/other"][()]
    axis = int(dump["softmax/4/input/dim"][()])
    powers = numpy.exp(product.astype(numpy.float64) - product.max(axis=axis, keepdims=True))
    dump["softplus/2/output/result"][...] = planted
    dump["mul/3/input/self"][...] = planted
    dump["mul/3/output/result"][...] = product
    dump["softmax/4/input/self"][...] = product
    dump["softmax/4/output/result"][...] = powers / powers.sum(axis=axis, keepdims=True)
