import { createSystemClock, createSystemRandom } from '@cinnabar/core';
import { adviceFor, createGatewayClient, login } from '@cinnabar/core/internal/gateway/client';
import { createOutbox, openConnection } from '@cinnabar/core/internal/gateway/connection';
import { createDiscordFailures, createFairRequests, createRequestBudget } from '@cinnabar/core/internal/gateway/rest';
import {
  createBackoff,
  createGatewayInformation,
  createIdentifyLimits,
  createSharedIdentifyLimits,
} from '@cinnabar/core/internal/gateway/session-limits';
import { endsSession } from '@cinnabar/core/internal/gateway/shard';
import type { LocalDiscord } from '@cinnabar/local-discord';
import type { Clock, OwnerAlert } from '@cinnabar/sdk';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import type { GatewayIntentsString, RESTOptions } from 'discord.js';
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

/** One connection to the gateway at an address, without a shard; the test moves its time. Resolves when it is open and HELLO was received. */
export async function connectTo(url: string) {
  const clock = createManualClock();
  const latencies: number[] = [];
  let connection: ReturnType<typeof openConnection> | undefined;
  await new Promise<void>((onHello) => {
    connection = openConnection({
      url,
      clock,
      random: { next: () => 0.5, id: () => 'id' },
      sequence: () => null,
      onHello,
      onDispatch: () => undefined,
      onLatency: (ms) => latencies.push(ms),
    });
  });
  if (connection === undefined) throw new Error('there is no connection');
  return { connection, clock, latencies };
}

/** The payloads of a shard that wait for a connection. */
export const openOutbox = () => createOutbox(createManualClock());

type Send = RESTOptions['makeRequest'];
type Budget = Parameters<typeof createFairRequests>[0];

/** Requests of a bot with this budget per second. */
export function requestsOf(perSecond: number, send: Send): { readonly clock: ManualClock; readonly request: Send } {
  const clock = createManualClock();
  return { clock, request: fairly(createRequestBudget(clock, perSecond), send) };
}

/** Requests in turns by channel within a budget, which a cluster may share. */
export const fairly = (budget: Budget, send: Send): Send => createFairRequests(budget, send);

/** Sends requests, and reports which errors are Discord's failures, not errors of the requester. */
export function watchedForFailures(send: Send): {
  readonly request: Send;
  readonly isFailureOfDiscord: (error: unknown) => boolean;
} {
  const failures = createDiscordFailures();
  return { request: failures.watch(send), isFailureOfDiscord: failures.isOne };
}

/** The pauses between attempts to connect, with this constant as the random value (0 to 1). */
export const pausesWith = (chance: number): ReturnType<typeof createBackoff> =>
  createBackoff({ next: () => chance, id: () => '' });

/** Discord's information about its gateway, requested with `ask`. */
export function gatewayInformation(ask: Parameters<typeof createGatewayInformation>[0]['ask']) {
  const clock = createManualClock();
  return createGatewayInformation({
    ask,
    clock,
    random: createSystemRandom(clock),
    signal: new AbortController().signal,
    onUnreachable: () => undefined,
  });
}

type Information = Parameters<typeof createIdentifyLimits>[1];

/** The limits on opening sessions, for a bot in one process. */
export const identifyLimits = (clock: Clock, information: Information) =>
  createIdentifyLimits(clock, information, recordingLogger());

/** The same limits in a process of a cluster. */
export const sharedIdentifyLimits = (parts: Omit<Parameters<typeof createSharedIdentifyLimits>[0], 'log'>) =>
  createSharedIdentifyLimits({ ...parts, log: recordingLogger() });
