/**
 * `node core/dist/cli/build-host.js [TIME [DIR]]`: builds the browser's part of plugins, then the host's bundle and those of its plugins from what the compiler has made. `npm run build` runs
 * it, with the time in ms at which it looked at the sources. A bot that was started from installed packages runs it, with the folder for the bundle.
 */
import { BUNDLE_DIR } from '../bundling/built.js';
import { buildHostBundle } from '../bundling/host-bundle.js';
import { buildWebClients } from '../bundling/web-clients.js';

const [, , at = Date.now(), dir = BUNDLE_DIR] = process.argv;
// First, since the bundle records the state of the folders at that time.
await buildWebClients();
await buildHostBundle(dir, Number(at));
