# The bot as an image: `docker compose up -d` builds and runs it (compose.yaml). docs/operators/docker.md explains both.
FROM node:24-bookworm-slim AS base
WORKDIR /app

FROM base AS build
COPY . .
# In one layer, so that the compiler and the tests' packages are not in the image. The bundles are made from the remaining files.
RUN npm ci --no-audit --no-fund \
 && npx tsc -b tsconfig.host.json \
 && npm prune --omit=dev --no-audit --no-fund \
 && node core/dist/cli/build-host.js

FROM base
COPY --from=build /app /app
# Everything that the bot writes is below /data; the rest of the file system may be read-only, except /tmp.
RUN install -d -o node -g node -m 0700 /data
VOLUME /data
USER node
ENV NODE_ENV=production \
    CINNABAR_DATA=/data \
    CINNABAR_MONITORING=127.0.0.1:9464
# As lists, without a shell, so that SIGTERM reaches the bot.
ENTRYPOINT ["node", "core/dist/cli/main.js"]
CMD ["start"]
STOPSIGNAL SIGTERM
# Whether the process is alive and its event loop runs. A bot without a connection to Discord is healthy: a restart would only lose its session.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 CMD ["node", "core/healthcheck.mjs"]
