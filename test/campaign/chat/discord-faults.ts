import type { LocalDiscord } from '@cinnabar/local-discord';

interface DiscordFault {
  readonly name: string;
  inject(discord: LocalDiscord): void;
}

/** Discord's faults of a round; most rounds have none. */
export const DISCORD_FAULTS: readonly [DiscordFault, ...DiscordFault[]] = [
  { name: 'none', inject: () => undefined },
  { name: 'message refused once', inject: ({ faults }) => faults.rest.fail(500, MESSAGE) },
  {
    name: 'message sent, answer lost',
    inject: ({ faults }) => faults.rest.fail(502, { ...MESSAGE, afterEffect: true }),
  },
  { name: 'messages refused for seconds', inject: ({ faults }) => faults.rest.fail(503, { ...MESSAGE, times: 6 }) },
  { name: 'connection dropped', inject: ({ faults }) => faults.rest.drop(MESSAGE) },
  {
    name: 'message sent, connection dropped',
    inject: ({ faults }) => faults.rest.drop({ ...MESSAGE, afterEffect: true }),
  },
  { name: 'rate limit', inject: ({ faults }) => faults.rest.rateLimit({ ...MESSAGE, retryAfterMs: 1 }) },
  {
    name: 'typing refused',
    inject: ({ faults }) => faults.rest.fail(500, { method: 'POST', route: '/channels/:channelId/typing', times: 4 }),
  },
];
const MESSAGE = { method: 'POST', route: '/channels/:channelId/messages' } as const;
