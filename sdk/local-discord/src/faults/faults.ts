import type { ConnectionLog } from '../gateway/connection-log.js';
import type { World } from '../state/world.js';
import { GatewayFaults } from './gateway-faults.js';
import { RestFaults } from './rest-faults.js';

/** What can go wrong on purpose. */
export interface Faults {
  readonly rest: RestFaults;
  readonly gateway: GatewayFaults;
  /** Ends all of it. */
  clear(): void;
}

export function createFaults(world: World, connections: ConnectionLog): Faults {
  const rest = new RestFaults();
  const gateway = new GatewayFaults(world, connections);
  return {
    rest,
    gateway,
    clear: () => {
      rest.clear();
      gateway.clear();
    },
  };
}
