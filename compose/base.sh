#!/usr/bin/env bash
# Builds the base of the stacks where no image can be pulled: Debian with Python, by debootstrap and `docker import`.
#
#   compose/base.sh [IMAGE]        as root; needs debootstrap and a Docker engine (DOCKER_HOST says which)
#   BASE_IMAGE=IMAGE retryproof check --stack nginx
#
# MIRROR: of Debian's packages (debootstrap's own where it is not set); SUITE: which Debian.
set -euo pipefail

image="${1:-retryproof-base}"
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT

if docker image inspect "$image" >/dev/null 2>&1; then
    echo "$image is there already; \`docker image rm $image\` first to build it again"
    exit 0
fi
command -v debootstrap >/dev/null || { echo "debootstrap is missing: apt-get install debootstrap" >&2; exit 4; }
docker version >/dev/null || { echo "no Docker engine answers: start one, or say where with DOCKER_HOST" >&2; exit 4; }

# shellcheck disable=SC2086  # an empty mirror is no argument
debootstrap --variant=minbase --include=ca-certificates,iptables,python3-venv "${SUITE:-bookworm}" "$root" ${MIRROR:-} >"$root.log" 2>&1 ||
    { tail -n 20 "$root.log" >&2; echo "debootstrap failed: $root.log" >&2; exit 4; }
# A machine that reaches its mirrors through an authority of its own trusts it; so does what is built here.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
rm -rf "$root.log" "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}/*
tar -C "$root" -c . | docker import --change 'CMD ["python3"]' - "$image"
