/**
 * `node core/dist/cli/build-host.js [TIME]`: builds the host's bundle and those of its plugins from what the compiler has made. `npm run build` runs
 * it, with the time in ms at which it looked at the sources.
 */
import { buildHostBundle } from '../bundling/host-bundle.js';

await buildHostBundle(Number(process.argv[2] ?? Date.now()));
