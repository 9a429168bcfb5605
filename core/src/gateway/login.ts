import { CinnabarError } from '@cinnabar/sdk';
import { GatewayCloseCodes } from 'discord.js';
import type { GatewayClient } from './client.js';

/**
 * Logs in and resolves once the client is ready.
 * @throws CinnabarError CINNABAR_GATEWAY_LOGIN, saying what to change
 */
export async function login(gateway: GatewayClient, token: string): Promise<void> {
  const { client } = gateway;
  const ready = new Promise<void>((resolve, reject) => {
    client.once('clientReady', () => resolve());
    client.once('shardDisconnect', ({ code }) =>
      reject(Object.assign(new Error(`the gateway closed the connection (${code})`), { code })),
    );
  });
  try {
    await Promise.all([client.login(token), ready]);
  } catch (error) {
    // Whichever of the two failed, nobody waits for the other any more.
    ready.catch(() => undefined);
    throw new CinnabarError('CINNABAR_GATEWAY_LOGIN', { detail: explain(error, gateway) }, { cause: error });
  }
}

function explain(error: unknown, gateway: GatewayClient): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'TokenInvalid' || code === GatewayCloseCodes.AuthenticationFailed)
    return 'the token is not valid. Check DISCORD_TOKEN (Developer Portal → Bot → Reset Token).';
  if (code === GatewayCloseCodes.DisallowedIntents || /disallowed intents/i.test(message)) {
    return `it is not approved for all of these intents: ${gateway.intents.join(', ')}. Switch the privileged ones on in the Developer Portal → Bot.`;
  }
  return message;
}
