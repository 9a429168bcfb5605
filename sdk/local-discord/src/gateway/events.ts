import type { GatewayDispatchPayload } from 'discord-api-types/v10';

/** Gateway events by name, each with its payload: `Dispatches['MESSAGE_CREATE']`. */
export type Dispatches = { [P in GatewayDispatchPayload as `${P['t']}`]: P['d'] };

export type DispatchName = keyof Dispatches;
