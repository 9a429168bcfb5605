import { z } from '@cinnabar/sdk/worker';

/** The longest texts that are kept; longer ones are cut. */
export const LIMITS = { name: 40, short: 400, description: 6_000, profile: 8_000, items: 20, mood: 60 } as const;

const origin = z.object({
  channelId: z.string(),
  /** When it is deleted or edited, what came of it goes. */
  messageId: z.string().nullable(),
  /** Not everyone may read that channel: it is known there alone. */
  isPrivate: z.boolean(),
});
/** Where a persona came by something in talk. */
export type Origin = z.output<typeof origin>;

/** A goal or desire, and whose words led to it. */
const item = z.object({
  text: z.string(),
  userId: z.string().nullable(),
  /** `null`: it was given by command or card. */
  origin: origin.nullable().default(null),
});
export type Item = z.output<typeof item>;

/** What the author of the persona wrote beforehand, as in character cards. */
const profile = z.object({
  personality: z.string(),
  scenario: z.string(),
  greeting: z.string(),
  examples: z.string(),
  /** `system_prompt` and `post_history_instructions` of a card: wishes of its author, not the host's rules. */
  instructions: z.string(),
  closing: z.string(),
});

const mood = z.object({
  name: z.string(),
  intensity: z.number(),
  /** Since when it has held; what has none does not fade. */
  at: z.number().exactOptional(),
});

/** What a persona says of itself in words of its own, and changes as it goes along. */
export const FREE_TEXTS = ['mood', 'appearance', 'environment'] as const;
export type FreeText = (typeof FREE_TEXTS)[number];

const shape = z.object({
  /** Empty: the bot's own name. */
  name: z.string(),
  description: z.string(),
  mood,
  appearance: z.string(),
  environment: z.string(),
  goals: z.array(item),
  desires: z.array(item),
  profile,
  /** The imported card that it is from; empty for one that was made here. */
  card: z.string(),
  /** By channel: free texts that came of a private conversation, and hold there alone. */
  apart: z
    .record(
      z.string(),
      z.object({
        mood: mood.exactOptional(),
        appearance: z.string().exactOptional(),
        environment: z.string().exactOptional(),
        /** Whose words led to it, and the messages. */
        userIds: z.array(z.string()),
        messageIds: z.array(z.string()),
      }),
    )
    .optional(),
  /** Whose words led to a free text that holds everywhere, the message, and the channel unless it was a command. */
  origins: z
    .partialRecord(
      z.enum(FREE_TEXTS),
      z.object({
        userId: z.string().nullable(),
        messageId: z.string().nullable(),
        channelId: z.string().exactOptional(),
      }),
    )
    .optional(),
});
export type State = z.output<typeof shape>;
export type StateKey = keyof State;

export const NEW_STATE: State = {
  name: '',
  description: 'A friendly regular of this place who listens well and says what it thinks.',
  mood: { name: 'calm', intensity: 3 },
  appearance: '',
  environment: '',
  goals: [],
  desires: [],
  profile: { personality: '', scenario: '', greeting: '', examples: '', instructions: '', closing: '' },
  card: '',
};

const memoryChange = z.object({ id: z.string(), channelId: z.string(), kind: z.enum(['added', 'setAside']) });
export type MemoryChange = z.output<typeof memoryChange>;

const reset = z.object({
  /** What `putAside` of each conversation resolved with. */
  conversations: z.array(z.object({ channelId: z.string(), clearedAt: z.number() })).default([]),
  /** What `setAsideAll` of the memories resolved with. */
  memoriesAt: z.number().optional(),
});
export type Reset = z.input<typeof reset>;

const revision = z.object({
  at: z.number(),
  /** What one run changes is taken back together. */
  sessionId: z.string(),
  /** The member who changed it by command, or whose words the persona answered; `null`: no one's. */
  userId: z.string().nullable(),
  /** The only channel that may know of it; `null`: every channel. */
  channelId: z.string().nullable().default(null),
  /** Where it was changed; `null`: before this was kept. */
  changedIn: z.string().nullable().default(null),
  /** In words: "mood: glad (6)". */
  what: z.array(z.string()),
  /** The changed parts as they were. */
  before: shape.partial(),
  memories: z.array(memoryChange),
  /** What a reset put aside. */
  reset: reset.optional(),
});
export type Revision = z.output<typeof revision>;

export const storedPersona = z.object({
  version: z.number().default(0),
  state: shape.default(NEW_STATE),
  /** Oldest first. */
  history: z.array(revision).default([]),
});
export type StoredPersona = z.output<typeof storedPersona>;

/** Invisible control and format characters, without line feeds and tabs. */
const HIDDEN = /(?![\n\t\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu;

/** What a model or a person wrote, fit to be kept: nothing invisible, no white space around it, not too long. */
export function tidy(text: string, most: number): string {
  return text.replaceAll('\r\n', '\n').replace(HIDDEN, '').trim().slice(0, most).trim();
}

/** A text that is not empty when it is tidy; longer ones are cut. */
export function tidyText(most: number) {
  return z
    .string()
    .transform((text) => tidy(text, most))
    .pipe(z.string().min(1));
}
