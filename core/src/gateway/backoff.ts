import type { Clock, Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { GatewayClient } from './client.js';

const WINDOW_MS = 10_000;
const TOLERATED = 3;
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

/**
 * discord.js reconnects at once when the gateway closes a connection, again and again. When that happens more than three times in ten
 * seconds, this takes the connections down, waits (doubling up to a minute), says so, and connects again.
 * @returns a function that stops it
 */
export function backOffReconnects(gateway: GatewayClient, clock: Clock, log: Logger): () => void {
  const { client } = gateway;
  let attempts: number[] = [];
  let delayMs = FIRST_DELAY_MS;
  let cancel: (() => void) | undefined;
  let stopped = false;

  const connectAgain = async () => {
    cancel = undefined;
    try {
      await gateway.manager()?.connect();
    } catch (error) {
      log.warn('gateway: connecting failed', { error });
      if (!stopped) wait();
    }
  };
  const disconnect = async () => {
    try {
      await gateway.manager()?.destroy({ reason: 'Backing off' });
    } catch (error) {
      log.warn('gateway: a connection could not be closed', { error });
    }
  };
  const wait = () => {
    log.warn(`gateway: closed ${attempts.length} times in ${WINDOW_MS / 1000} s; trying again in ${delayMs / 1000} s`);
    cancel = clock.after(delayMs, () => void connectAgain());
    delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS);
  };
  const onReconnecting = () => {
    const now = clock.now();
    attempts = attempts.filter((at) => now - at < WINDOW_MS);
    attempts.push(now);
    if (attempts.length <= TOLERATED || cancel !== undefined) return;
    wait();
    void disconnect();
  };
  const onResumed = () => {
    delayMs = FIRST_DELAY_MS;
  };

  return attach(client, onReconnecting, onResumed, () => {
    stopped = true;
    cancel?.();
  });
}

function attach(client: Client, onReconnecting: () => void, onResumed: () => void, cancel: () => void): () => void {
  client.on('shardReconnecting', onReconnecting);
  client.on('shardResume', onResumed);
  client.on('shardReady', onResumed);
  return () => {
    cancel();
    client.off('shardReconnecting', onReconnecting);
    client.off('shardResume', onResumed);
    client.off('shardReady', onResumed);
  };
}
