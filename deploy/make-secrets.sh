#!/bin/sh
# Creates the random secrets of docker-compose.yml in deploy/secrets and never replaces an existing one. Only you can open the directory; the
# files in it are readable by every user, because each container reads them as its own user.
set -eu
umask 077
cd "$(dirname "$0")"
mkdir -p secrets
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
keep() { # name: writes stdin to the file unless it exists
  if [ -e "secrets/$1" ]; then cat > /dev/null; else cat > "secrets/$1"; chmod 444 "secrets/$1"; fi
}
for user in writer reader guest; do random | keep "clickhouse_$user"; done
random | keep cursor_secrets
random | keep redis_key
printf 'requirepass %s\n' "$(cat secrets/redis_key)" | keep redis_password
printf 'redis://:%s@redis:6379' "$(cat secrets/redis_key)" | keep redis_url
digest() { sha256sum "secrets/clickhouse_$1" | cut -d ' ' -f 1; }
{
  echo '<clickhouse>'
  for user in writer reader guest; do echo "  <index_$user>$(digest "$user")</index_$user>"; done
  echo '</clickhouse>'
} | keep clickhouse_digests
# The secret with which the nodes of docker-compose.cluster.yml query each other.
printf '<clickhouse>\n  <index_cluster>%s</index_cluster>\n</clickhouse>\n' "$(random)" | keep clickhouse_cluster
