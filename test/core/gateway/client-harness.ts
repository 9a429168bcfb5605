import { createSystemClock, createSystemRandom } from '@cinnabar/core';
import { adviceFor, createGatewayClient, login } from '@cinnabar/core/internal/gateway/client';
import { endsSession } from '@cinnabar/core/internal/gateway/shard';
import type { LocalDiscord } from '@cinnabar/local-discord';
import type { Clock, OwnerAlert } from '@cinnabar/sdk';
import type { GatewayIntentsString } from 'discord.js';
import { aloneInCluster } from '../../support/cluster-process.js';
import { recordingLogger } from '../../support/logs.js';

type Assigned = Exclude<Parameters<typeof createGatewayClient>[0]['assignment'], undefined>;
export type Lease = Assigned['lease'];
export type SessionStore = Assigned['sessions'];
export type ShardChange = Parameters<SessionStore['save']>[0][number];

/** A client with its gateway, but without the rest of a host. */
export interface Connecting {
  readonly clock?: Clock;
  readonly onAlert?: (alert: OwnerAlert) => void;
  /** The cluster's part of the gateway; default: a single process that stores nothing. */
  readonly inCluster?: Partial<Assigned>;
}

/** A client on a local Discord that is not logged in. */
export function gatewayOn(
  discord: LocalDiscord,
  { clock = createSystemClock(), onAlert = () => undefined, inCluster }: Connecting = {},
) {
  return createGatewayClient({
    discordApi: discord.api,
    ...(inCluster === undefined ? {} : { assignment: { ...aloneInCluster(0, 1), ...inCluster } }),
    clock,
    random: createSystemRandom(clock),
    log: recordingLogger(),
    alert: onAlert,
  });
}

export async function logIn(
  gateway: ReturnType<typeof gatewayOn>,
  token: string,
  intents: readonly GatewayIntentsString[],
): Promise<void> {
  gateway.setIntents(intents);
  await login(gateway, token);
}

/** The meaning of Discord's close code for a bot with these intents. */
export function meaningOfClose(code: number, intents: readonly GatewayIntentsString[] = []) {
  return {
    /** The advice for the operator, when the bot does not reconnect. */
    advice: adviceFor(code, intents),
    isSessionOver: endsSession(code),
  };
}
