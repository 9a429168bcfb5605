import { openRoute, route } from '../route.js';

/** Identifies at once for this many shards; Discord gives 1 to small bots, but waiting 5 seconds a shard helps no test. */
const MAX_CONCURRENCY = 16;

export const gatewayRoutes = [
  openRoute('GET', '/gateway', ({ world }) => ({ url: world.addresses.gateway })),
  route('GET', '/gateway/bot', ({ world }) => ({
    url: world.addresses.gateway,
    shards: world.shards,
    session_start_limit: { total: 1_000, remaining: 1_000, reset_after: 0, max_concurrency: MAX_CONCURRENCY },
  })),
];
