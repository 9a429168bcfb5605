import { z } from '@cinnabar/sdk';

/**
 * Where a key may be set other than in the configuration files, which may set all: `guild` by admins (`!set chat`), `channel` also in a pinned `.config`
 * message.
 */
export type KeyScope = 'files' | 'guild' | 'channel';

interface KeyTraits {
  readonly description: string;
  readonly scope: KeyScope;
  /** Affects costs: admins and pins may lower the value (or switch it off), but not raise it above that in the files. */
  readonly lowerOnly?: true;
}

/** Traits by schema instance. */
const keyTraits = z.registry<KeyTraits>();

const LOWER_ONLY = { lowerOnly: true } as const;

/** Declares one key of the configuration. */
function key<S extends z.ZodType>(
  scope: KeyScope,
  description: string,
  schema: S,
  more: Pick<KeyTraits, 'lowerOnly'> = {},
): S {
  const described = schema.describe(description);
  keyTraits.add(described, { scope, description, ...more });
  return described;
}

const name = z
  .string()
  .trim()
  .regex(/^[^\p{Cc}\p{Cf}:<>[\]]{1,32}$/u, 'must be one line of 1 to 32 characters without : < > [ ]');

const modelName = z.string().trim().min(1).max(200);

/** The schema of a value, without the default for a missing one. */
function withoutDefault(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodOptional ? withoutDefault(schema.unwrap()) : schema;
}

/** Every key of the configuration, each with its description, default and who may set it (`.meta()`). */
export const botConfigSchema = z.object({
  name: key(
    'guild',
    "The bot's name, which `.config NAME` pins go by; by default its name on Discord",
    name.optional(),
  ),
  innerName: key('guild', 'The name by which the model knows itself; by default `name`', name.optional()),
  instructions: key(
    'channel',
    'Added to the model’s instructions: tone, rules of the server, language',
    z.string().max(20_000).optional(),
  ),
  systemPrompt: key(
    'guild',
    'Replaces the model’s description of itself; `instructions` are still added',
    z.string().max(50_000).optional(),
  ),

  mode: key(
    'channel',
    'chat: roles of user and assistant. prefill: one text that the model goes on with; models that refuse it get chat',
    z.enum(['chat', 'prefill']).default('chat'),
  ),
  continuationModel: key(
    'channel',
    'The model that answers; by default that of `llm`. Admins and pins choose among `allowedModels`',
    modelName.optional(),
  ),
  allowedModels: key(
    'files',
    'Models that admins and pins may choose; `*` stands for any text: `claude-*-haiku-*`',
    z.array(modelName).max(100).default([]),
  ),
  fallbackModels: key(
    'files',
    'Models to try in order when the first cannot answer',
    z.array(modelName).max(10).default([]),
  ),
  temperature: key(
    'channel',
    "How much the model varies its words; by default the model's own. Ignored where a model refuses it",
    z.number().min(0).max(2).optional(),
  ),
  topP: key(
    'channel',
    "Share of the likeliest words that the model chooses from; by default the model's own",
    z.number().min(0).max(1).optional(),
  ),
  maxTokens: key('channel', 'The longest answer, in tokens', z.int().min(16).max(1_000_000).default(4_096), LOWER_ONLY),
  stopSequences: key(
    'channel',
    'Texts at which the model stops, beside the names of the participants',
    z.array(z.string().min(1).max(200)).max(16).default([]),
  ),
  streaming: key(
    'channel',
    'Whether the answer grows in Discord while the model writes, an edit a second',
    z.boolean().default(false),
  ),
  llmRetries: key(
    'channel',
    'How often a failed request to the model is repeated',
    z.int().min(0).max(10).default(3),
    LOWER_ONLY,
  ),
  llmTimeoutMs: key(
    'guild',
    'How long one request to the model may take, in milliseconds',
    z.int().min(1_000).max(3_600_000).default(120_000),
    LOWER_ONLY,
  ),
  cache: key(
    'guild',
    'How long providers keep the beginning of the conversation: 5m, 1h, off, or auto, which goes by the rhythm of the channel',
    z.enum(['auto', 'off', '5m', '1h']).default('auto'),
  ),

  recencyWindow: key(
    'channel',
    'How many of the last messages of the channel the model reads',
    z.int().min(1).max(10_000).default(400),
    LOWER_ONLY,
  ),
  rollingThreshold: key(
    'channel',
    'How many messages the window may grow beyond that before its beginning is cut off, never more; by default what is cheapest, at most to twice the window',
    z.int().min(1).max(10_000).optional(),
    LOWER_ONLY,
  ),
  maxContextTokens: key(
    'channel',
    'Tokens of context at which its beginning is cut off, however few messages that are',
    z.int().min(1_000).max(2_000_000).default(100_000),
    LOWER_ONLY,
  ),
  truncateToTokens: key(
    'channel',
    'The size to which it is then cut, at most 9 tenths of `maxContextTokens`; by default 6 tenths',
    z.int().min(500).max(2_000_000).optional(),
    LOWER_ONLY,
  ),
  historyRoles: key(
    'guild',
    'Ids or names of the roles that may use `.history`, beside members who may manage messages',
    z.array(z.string('must be text: put the id in quotes').trim().min(1).max(100)).max(50).default([]),
  ),
  includeImages: key('channel', 'Whether the model sees images', z.boolean().default(true), LOWER_ONLY),
  maxImages: key(
    'channel',
    'How many images the model sees, the newest first',
    z.int().min(0).max(100).default(5),
    LOWER_ONLY,
  ),
  imageMaxBytes: key(
    'guild',
    'The largest image that the model is shown, in bytes',
    z.int().min(1_000).max(50_000_000).default(3_750_000),
    LOWER_ONLY,
  ),
  imageMaxTotalBytes: key(
    'guild',
    'All images of one request together, in bytes',
    z.int().min(1_000).max(200_000_000).default(15_000_000),
    LOWER_ONLY,
  ),
  maxTextFiles: key(
    'channel',
    'Of how many attached text files (`message.txt`, code) the model reads the text, the newest first',
    z.int().min(0).max(50).default(5),
    LOWER_ONLY,
  ),
  textFileMaxBytes: key(
    'channel',
    'How much of one attached text file the model reads, in bytes from its beginning',
    z.int().min(100).max(1_000_000).default(20_000),
    LOWER_ONLY,
  ),

  toolsEnabled: key('channel', 'Whether the model is offered tools', z.boolean().default(true), LOWER_ONLY),
  toolsOnDemand: key(
    'guild',
    'Plugins whose tools the model is given only when it looks for one, beside those that not every member may use; always given, tools cost tokens with every answer',
    z.array(z.string('must be text').trim().min(1).max(64)).max(50).default(['discord-tools']),
  ),
  toolOutputVisible: key(
    'channel',
    'Whether the channel sees calls of tools and their results',
    z.boolean().default(false),
  ),
  // Eight rounds suffice for ordinary requests; the owner can allow more.
  maxToolDepth: key(
    'channel',
    'How many rounds of tool calls one answer may take; 0 offers no tools',
    z.int().min(0).max(100).default(8),
    LOWER_ONLY,
  ),
  replyOnRandom: key(
    'channel',
    'How often it answers without being asked: 0 never, up to 1 that fraction of all messages, above 1 one in that many messages',
    z.number().min(0).max(1_000_000).default(0),
  ),
  replyOnName: key('channel', 'Whether it answers messages that contain its name', z.boolean().default(false)),
  maxQueuedReplies: key(
    'channel',
    'How many answers may wait in a channel; what comes on top is not answered',
    z.int().min(1).max(100).default(5),
    LOWER_ONLY,
  ),
  botChainLength: key(
    'channel',
    'How many answers of bots in a row there may be before it stays silent; 0 never answers a bot',
    z.int().min(0).max(50).default(3),
    LOWER_ONLY,
  ),
  discordBackoffMax: key(
    'files',
    'The longest pause before Discord is tried again, in milliseconds: 1 s, 2 s, 4 s and so on',
    z.int().min(1_000).max(600_000).default(32_000),
  ),

  receipts: key(
    'channel',
    'Whether a small line under each answer tells its tokens and its price; `!why` and `!cost` tell it anyway',
    z.boolean().default(false),
  ),
});

type Values = z.output<typeof botConfigSchema>;

/** The configuration in force for a channel. */
export type BotConfig = Readonly<Omit<Values, 'truncateToTokens'> & { truncateToTokens: number }>;

const LARGEST_SHARE = 0.9;
const DEFAULT_SHARE = 0.6;

/** Computes values that depend on others. */
export function complete(values: Values): BotConfig {
  const { maxContextTokens, truncateToTokens, name, innerName = name } = values;
  const target =
    truncateToTokens === undefined || !isTruncation(truncateToTokens, maxContextTokens)
      ? Math.floor(maxContextTokens * DEFAULT_SHARE)
      : truncateToTokens;
  return { ...values, innerName, truncateToTokens: target };
}

/** Whether cutting to `target` tokens leaves room to grow: without it, the next message would lead to another cut. */
export function isTruncation(target: number, maxContextTokens: number): boolean {
  return target <= maxContextTokens * LARGEST_SHARE;
}

/** The values when nothing is configured. */
export const DEFAULT_CONFIG: BotConfig = complete(botConfigSchema.parse({}));

export interface EffectiveConfig {
  readonly config: BotConfig;
  /**
   * The source of each value, by path (`temperature`): `config/bots/claude.yaml:3`, `setting of the server`, `pin 123…:2` (the line below `.config`),
   * `default`.
   */
  readonly origin: Readonly<Record<string, string>>;
  /** Everything that was ignored, with the reason, file, line and key. */
  readonly problems: readonly string[];
}

/** One key of the configuration. */
export interface Leaf extends KeyTraits {
  readonly path: string;
  readonly schema: z.core.$ZodType;
  /** The value when no layer sets it. */
  readonly fallback: unknown;
}

/** Every value by its path. */
export const LEAVES: ReadonlyMap<string, Leaf> = new Map(
  Object.entries(botConfigSchema.shape).map(([path, schema]) => [path, leafOf(path, schema)]),
);

function leafOf(path: string, schema: z.core.$ZodType): Leaf {
  const traits = keyTraits.get(schema);
  if (traits === undefined) throw new TypeError(`the key ${path} is declared without \`key(…)\``);
  return { ...traits, path, schema: withoutDefault(schema), fallback: z.safeParse(schema, undefined).data };
}
