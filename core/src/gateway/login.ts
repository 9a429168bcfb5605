import { CinnabarError, operatorSentenceOf } from '@cinnabar/sdk';
import { GatewayCloseCodes } from 'discord.js';
import type { GatewayClient } from './client.js';
import { adviceFor } from './close-codes.js';

/**
 * Logs in and resolves once the client is ready. While Discord is away it waits and tries again.
 * @throws CinnabarError CINNABAR_GATEWAY_LOGIN for what waiting cannot mend, saying what to change; and when the client is closed meanwhile
 */
export async function login({ client, ended }: GatewayClient, token: string): Promise<void> {
  const ready = new Promise<void>((resolve) => client.once('clientReady', () => resolve()));
  const connect = async () => {
    try {
      await client.login(token);
    } catch (error) {
      throw explain(error);
    }
    await ready;
  };
  const error = await Promise.race([connect(), ended]);
  if (error !== undefined) throw error;
}

function explain(error: unknown): CinnabarError {
  if (error instanceof CinnabarError) return error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  const advice = code === 'TokenInvalid' ? adviceFor(GatewayCloseCodes.AuthenticationFailed, []) : undefined;
  const detail = advice ?? operatorSentenceOf(error) ?? (error instanceof Error ? error.message : String(error));
  return new CinnabarError('CINNABAR_GATEWAY_LOGIN', { detail }, { cause: error });
}
