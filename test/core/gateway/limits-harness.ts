import { createSystemRandom } from '@cinnabar/core';
import { createDiscordFailures, createFairRequests, createRequestBudget } from '@cinnabar/core/internal/gateway/rest';
import {
  createBackoff,
  createGatewayInformation,
  createIdentifyLimits,
  createSharedIdentifyLimits,
} from '@cinnabar/core/internal/gateway/session-limits';
import type { Clock } from '@cinnabar/sdk';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import type { RESTOptions } from 'discord.js';
import { recordingLogger } from '../../support/logs.js';

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
