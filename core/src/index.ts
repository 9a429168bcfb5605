export { createSystemClock, createSystemRandom } from './clock/clock.js';
export type { HostConfig } from './config/host-config.js';
export { loadConfig } from './config/load.js';
export { createHost, type Host, type HostOptions } from './host.js';
export { createDiscovery, type Discover } from './plugins/discovery.js';
export { DamagedDocument, type DocumentPath, type Driver, type Stored } from './storage/driver.js';
export { createFileDriver } from './storage/drivers/file-driver.js';
export { createPostgresDriver } from './storage/drivers/postgres/database.js';
export { HOST_VERSION } from './version.js';
