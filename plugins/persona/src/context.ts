import {
  type Access,
  type Accounts,
  type Clock,
  type CommandContext,
  type Commands,
  type FrontDoor,
  isTimeZone,
  type KeyedMutex,
  type Languages,
  type Ledger,
  type Llm,
  type Logger,
  type PersonaPlace,
  type Plugins,
  type Prefixes,
  type Provenance,
  plainText,
  type Random,
  type Tools,
  visible,
  type WorkerModule,
  z,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { ActionRegistry } from './actions/action.js';
import type { ConversationStore } from './conversation/conversation-store.js';
import type { Memories } from './memory/memories.js';
import type { Allowance } from './proactive.js';
import type { EventHub, TraceStore } from './running/events.js';
import type { Author, CardStore, PersonaStore } from './state/persona-store.js';

const whole = (least: number, most: number) => z.number().int().min(least).max(most);
const hour = whole(0, 23);

const guild = z.object({
  scope: z
    .enum(['guild', 'channel'])
    .default('guild')
    .describe('Whether one persona lives in the whole server, or one in each channel'),
  maxActions: whole(1, 50).default(12).describe('How many actions one run may carry out'),
  maxCalls: whole(1, 50).default(8).describe('How many times one run may ask the language model'),
  maxExtensions: whole(0, 20)
    .default(3)
    .describe('How many times one run may look whether its plan should be extended'),
  maxTokens: whole(1_000, 1_000_000)
    .default(60_000)
    .describe('How many tokens, read and written, after which a run asks the language model no more')
    .meta({ ceiling: 500_000 }),
  maxSeconds: whole(5, 600).default(120).describe('Seconds after which a run is ended'),
  maxReplyTokens: whole(100, 16_000)
    .default(1_500)
    .describe('The longest single answer of the language model, in tokens'),
  historyMessages: whole(10, 200)
    .default(40)
    .describe('How many messages are kept word for word; what is older goes into a summary'),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('The language model, one of `allowedModels`; by default what the host is configured with')
    .meta({ model: true }),
  keepPrivate: z
    .boolean()
    .default(true)
    .describe(
      'Whether mood, appearance and environment from a conversation in a private channel apply only in that channel',
    ),
  thoughts: z
    .enum(['nowhere', 'trace', 'thread'])
    .default('trace')
    .describe(
      'Where thoughts can be read: nowhere, in the answer to /persona trace that only its caller sees, or in a thread',
    ),
  silentReaction: z
    .string()
    .max(64)
    .default('')
    .describe('An emoji put under a message that gets no answer; empty for none'),
  toolResults: z
    .boolean()
    .default(true)
    .describe('Whether the persona thinks again when a tool call that had to wait has ended'),
  onReaction: z.boolean().default(false).describe('Whether reactions to what the persona said make it think'),
  onJoin: z.boolean().default(false).describe('Whether the persona notices new members, in its home channel'),
  timerMinutes: whole(0, 10_080)
    .default(0)
    .describe('How often the persona acts in its home channel without being asked, in minutes; 0 for never'),
  reflection: z
    .boolean()
    .default(false)
    .describe('Whether the persona reflects in its home channel when enough of importance has happened'),
  home: z
    .string()
    .regex(/^\d{15,22}$/, 'expected the id of a channel')
    .optional()
    .describe('The channel in which the persona may act without being asked')
    .meta({ kind: 'channel' }),
  dayBudget: whole(0, 1_000)
    .default(6)
    .describe('How many runs a day (UTC) there may be without a request: timers, reflection, reactions, new members'),
  quietFrom: hour.default(22).describe('The hour from which the persona does nothing without being asked'),
  quietTo: hour.default(8).describe('The hour at which that ends; the same as quietFrom for no quiet hours'),
  timeZone: z
    .string()
    .max(60)
    .refine(isTimeZone, 'it has to be the name of a time zone, such as Europe/Berlin')
    .optional()
    .describe('The time zone of this server, such as Europe/Berlin; in the place of utcOffset'),
  moodHours: z
    .number()
    .min(0)
    .max(720)
    .default(12)
    .describe('Hours after which a mood is half as strong; in the end it is calm again. 0: moods stay'),
  answersToName: z
    .boolean()
    .default(false)
    .describe('Whether the persona answers where it is called by its name, without a mention'),
  ownName: z
    .boolean()
    .default(false)
    .describe('Whether it speaks under its own name, through a webhook: the bot needs Manage Webhooks for that'),
  avatar: z
    .url({ protocol: /^https$/ })
    .max(2_000)
    .optional()
    .describe('Address of the picture under which it speaks with ownName'),
  utcOffset: z.number().min(-12).max(14).default(0).describe('Hours that the clock of this server is ahead of UTC'),
});

const global = z.object({
  memories: whole(100, 1_000_000)
    .default(10_000)
    .describe('How many memories one persona has in one server or direct message; holds from the next start on'),
});

export const settings = { global, guild };

/** How personas behave in one guild; in a direct message the defaults apply. */
export type PersonaSettings = z.output<typeof guild>;

/** The context of this plugin's functions: its own stores and the host's services. */
export interface PersonaContext {
  readonly access: Access;
  readonly accounts: Accounts | undefined;
  readonly allowance: Allowance;
  /** Runs work that belongs to no event, command or turn, at once; logs its errors. Only the plugin's stop waits for it. */
  readonly background: { run(what: string, task: () => Promise<void>): void; idle(): Promise<void> };
  readonly cards: CardStore;
  /** Reads cards and their books outside of the main thread. */
  readonly cardFiles: WorkerModule<typeof import('./cards/worker.js')>;
  readonly client: Client;
  readonly clock: Clock;
  readonly commands: Pick<Commands, 'matches'>;
  readonly conversations: ConversationStore;
  readonly frontDoor: FrontDoor | undefined;
  readonly hub: EventHub;
  readonly languages: Pick<Languages, 'speak'>;
  readonly ledger: Pick<Ledger, 'get'>;
  readonly llm: Llm | undefined;
  readonly log: Logger;
  readonly memories: Memories;
  readonly plugins: Pick<Plugins, 'enabledIn'>;
  readonly prefixes: Pick<Prefixes, 'get'>;
  readonly provenance: Provenance;
  readonly random: Pick<Random, 'id'>;
  readonly registry: ActionRegistry;
  /** Allows one run at a time in each channel. */
  readonly runs: KeyedMutex;
  readonly store: PersonaStore;
  readonly tools: Tools;
  readonly traces: TraceStore;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
  settingsFor(guildId: string | null): Promise<PersonaSettings>;
  /** The guilds that have changed any of these settings. */
  guildsWithSettings(): Promise<readonly string[]>;
}

/** The access policy for changing personas: in a guild its admins, in a direct message its member. */
export const SHAPE = { tier: 'admin', dmTier: 'everyone' } as const;

export function placeOf({ actor }: Pick<CommandContext, 'actor'>): PersonaPlace {
  return { guildId: actor.guildId, channelId: actor.channelId };
}

/** The author of a command's changes; one session, so that one undo reverts all of them. */
export function authorOf({ actor }: Pick<CommandContext, 'actor'>, { random }: PersonaContext): Author {
  return { sessionId: random.id(), userId: actor.userId, channelId: null };
}

/** A member's or a model's text on one line, escaped. */
export function shown(text: string, most = 300): string {
  const cut = text.length <= most ? text : `${text.slice(0, most)}…`;
  return plainText(visible(cut));
}

/** `**Goals**` with a line for each, or nothing when there are none. */
export function listed(title: string, texts: readonly string[]): readonly string[] {
  return texts.length === 0 ? [] : [`**${title}**`, ...texts.map((text, index) => `${index + 1}. ${shown(text)}`)];
}
