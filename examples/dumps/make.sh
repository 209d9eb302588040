#!/bin/sh
# Makes npu.h5 and gpu.h5 again. Requires opbench in PATH and python3-h5py.
set -e
cd "$(dirname "$0")"
run="opbench --cases network.yaml -q --time 0.001 --repetitions 1 --threads 1"
$run --variant framework --dump gpu.h5
$run --variant device --dump npu.h5
python3 plant.py npu.h5
