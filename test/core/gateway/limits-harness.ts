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

/** Requests of one bot that takes so many of them in a second. */
export function requestsOf(perSecond: number, send: Send): { readonly clock: ManualClock; readonly request: Send } {
  const clock = createManualClock();
  return { clock, request: fairly(createRequestBudget(clock, perSecond), send) };
}

/** Requests that take turns by channel within a budget, which a cluster may share. */
export const fairly = (budget: Budget, send: Send): Send => createFairRequests(budget, send);

/** Sends requests, and tells which errors are Discord's failures, and none of whoever asked. */
export function watchedForFailures(send: Send): {
  readonly request: Send;
  readonly isFailureOfDiscord: (error: unknown) => boolean;
} {
  const failures = createDiscordFailures();
  return { request: failures.watch(send), isFailureOfDiscord: failures.isOne };
}

/** The pauses between attempts to connect, where chance always has this value from 0 to 1. */
export const pausesWith = (chance: number): ReturnType<typeof createBackoff> =>
  createBackoff({ next: () => chance, id: () => '' });

/** What Discord says of its gateway, asked through `ask`. */
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

/** The limits on opening sessions of a bot in one process. */
export const identifyLimits = (clock: Clock, information: Information) =>
  createIdentifyLimits(clock, information, recordingLogger());

/** The same in one process of a cluster. */
export const sharedIdentifyLimits = (parts: Omit<Parameters<typeof createSharedIdentifyLimits>[0], 'log'>) =>
  createSharedIdentifyLimits({ ...parts, log: recordingLogger() });
