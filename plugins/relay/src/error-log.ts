import { type Clock, type Collection, z } from '@cinnabar/sdk';

const KEPT = 50;
const LONGEST = 300;

const schema = z.object({
  entries: z
    .array(
      z.object({
        /** Milliseconds since the Unix epoch. */
        at: z.number(),
        channelId: z.string(),
        agent: z.string(),
        /** The sentence that the member got. */
        sentence: z.string(),
        /** The kind of the failure: `APIError 503`. */
        kind: z.string(),
      }),
    )
    .default([]),
});

/** To be added to the plugin's `collections`. */
export const errorCollections = { errors: { scope: 'guild', schema, version: 1 } } as const;

type Kept = z.output<typeof schema>;
type KeptError = Kept['entries'][number];

export type ErrorLog = ReturnType<typeof createErrorLog>;

/**
 * The last fifty errors of a guild, for its admins. Of the cause, only kind and status are stored, never the message, which may quote a member's text or a
 * credential. The host's log has all of it, with secrets removed.
 */
export function createErrorLog(errors: Collection<Kept, 'guild'>, clock: Clock) {
  return {
    async record(
      guildId: string,
      { channelId, agent, sentence }: Omit<KeptError, 'at' | 'kind'>,
      cause: unknown,
    ): Promise<void> {
      const entry = { at: clock.now(), channelId, agent, sentence: sentence.slice(0, LONGEST), kind: kindOf(cause) };
      await errors.of(guildId).update((draft) => {
        draft.entries = [...draft.entries, entry].slice(-KEPT);
      });
    },
    /** Newest first. */
    recent: async (guildId: string): Promise<readonly KeptError[]> =>
      ((await errors.of(guildId).find())?.entries ?? []).toReversed(),
  };
}

/** The client of Letta wraps errors of the network twice. */
const DEEPEST = 5;

function kindOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown';
  const name = nameOf(cause);
  let error: unknown = cause;
  for (let depth = 0; depth < DEEPEST && error instanceof Error; depth++) {
    const detail = detailOf(error);
    if (detail !== undefined) return `${name} ${detail}`;
    error = error.cause;
  }
  return name;
}

/** A name such as `NotFoundError`, or that of the class where the client sets none. Longer texts in these properties are not names. */
function nameOf(error: Error): string {
  const name = error.name === 'Error' ? error.constructor.name : error.name;
  return /^\w{1,60}$/.test(name) ? name : 'Error';
}

function detailOf(error: Error): string | undefined {
  for (const property of ['status', 'code'] as const) {
    const value: unknown = Reflect.get(error, property);
    if (typeof value === 'number' || (typeof value === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(value)))
      return `${value}`;
  }
  return undefined;
}
