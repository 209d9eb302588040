# opbench on Debian 12. The first stage builds the Debian package, the second one installs it.
# We never built an image with this file: we develop without Docker. tests/package/packages_test.py tests the package.
#
#   docker build -t opbench .
#   docker run --rm -v "$PWD:/work" opbench compare npu.h5 gpu.h5
FROM debian:12 AS build
COPY . /src
RUN cd /src && ./build.sh packages /packages deb

FROM debian:12-slim
COPY --from=build /packages/opbench_*.deb /tmp/packages/
RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends /tmp/packages/opbench_*.deb \
 && rm -rf /tmp/packages /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["opbench"]
