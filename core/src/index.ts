export { createSystemClock, createSystemRandom } from './clock/clock.js';
export type { HostConfig } from './config/host-config.js';
export { loadConfig } from './config/load.js';
export { createHost, type Host, type HostOptions } from './host.js';
export { HOST_VERSION } from './version.js';
