# The service for a ClickHouse and a Redis of their own: API, ingest or rollup, by ROLE. Without the embedded engine, which is half
# a gigabyte. Build: docker build -t settlement-index .
# A tag can be moved; who wants the very same base every time adds its digest (docker buildx imagetools inspect shows it).
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY client/package.json client/
# No install scripts: every package of the lock file brings its binaries along, and the build generates the client's types.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build
# What runs needs neither the development packages nor the embedded engine. SQLite and OpenTelemetry stay.
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
 && cd node_modules && rm -rf .cache chdb @chdb ffi-rs @yuuang @libsql/linux-*-musl @settlement-index

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
# Only for the accounts of one API process without a Redis; everything else is read-only.
RUN mkdir -p /data/bundles && chown -R node:node /data
VOLUME /data
USER node
EXPOSE 8402
# Node is the first process: it answers SIGTERM itself and reaps what it starts.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8402/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/src/main.js"]
CMD ["start"]
