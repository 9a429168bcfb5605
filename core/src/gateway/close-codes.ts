import { GatewayCloseCodes } from 'discord.js';

/** What to do about closes that no waiting mends. https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway */
const ADVICE: ReadonlyMap<number, string> = new Map([
  [
    GatewayCloseCodes.AuthenticationFailed,
    'the token is not valid. Check DISCORD_TOKEN (Developer Portal → Bot → Reset Token) and start again.',
  ],
  [
    GatewayCloseCodes.InvalidShard,
    'it does not know this shard. Start again: the number of shards is asked of Discord at each start.',
  ],
  [
    GatewayCloseCodes.ShardingRequired,
    'the bot is in too many servers for its number of shards. Start again: the number is asked of Discord at each start.',
  ],
  [
    GatewayCloseCodes.InvalidAPIVersion,
    'it no longer speaks the gateway version that this program uses. Update Cinnabar.',
  ],
  [
    GatewayCloseCodes.InvalidIntents,
    'it does not know one of these intents: {intents}. Update Cinnabar, or disable the plugin that asks for it.',
  ],
  [
    GatewayCloseCodes.DisallowedIntents,
    'it is not approved for all of these intents: {intents}. Switch the privileged ones on in the Developer Portal → Bot and start again.',
  ],
]);

/** What to do when Discord closes with a code after which it must not be tried again; `undefined` for all other codes. */
export function adviceFor(code: number, intents: readonly string[]): string | undefined {
  return ADVICE.get(code)?.replace('{intents}', intents.join(', '));
}

/** Codes after which Discord wants a new session; after all others the old one may be resumed. */
const ENDS_SESSION: ReadonlySet<number> = new Set([
  GatewayCloseCodes.NotAuthenticated,
  GatewayCloseCodes.InvalidSeq,
  GatewayCloseCodes.SessionTimedOut,
]);

export function endsSession(code: number): boolean {
  return ENDS_SESSION.has(code);
}
