import {
  type Actor,
  CinnabarError,
  type ContentBlock,
  forgetOwnWebhook,
  inStep,
  type ModelTool,
  type ModelTraits,
  mayManageWebhooks,
  type Outcome,
  ownWebhook,
  type Provenance,
  splitMessage,
  type ToolContent,
  type ToolInfo,
  type ToolResultContent,
  type ToolStep,
  type Tools,
  type ToolUseContent,
  type Turn,
  t,
  webhookPlace,
  z,
} from '@cinnabar/sdk';
import { MessageFlags } from 'discord.js';
import type { BotConfig } from '../config/keys.js';
import { type BackoffOptions, withDiscordBackoff } from '../history/access.js';

export interface InvokeContext {
  readonly turn: Turn;
  readonly tools: Tools;
  readonly provenance: Pick<Provenance, 'mayTell'>;
  readonly signal: AbortSignal;
  /** The tools that all answered members may use; others are not executed. */
  readonly permitted: readonly ModelTool[];
  /** Called for a deferred call. `afterId`: the message before it; `step`: the same for the calls of one completion. */
  onHeld(call: {
    readonly callId: string;
    readonly use: ToolUseContent;
    readonly afterId: string | undefined;
    readonly step: string;
  }): Promise<void>;
}

/** The outcome of a call. */
export interface Invoked {
  readonly use: ToolUseContent;
  readonly result: ToolResultContent;
  /** The text of a completed call. */
  readonly done: string | undefined;
  readonly held: boolean;
  readonly outcome: 'done' | 'deferred' | 'denied' | 'expired' | 'failed';
  /** Tools that are declared to the model from now on. */
  readonly found?: readonly ModelTool[];
}

/** Runs the calls of one completion one after another, so that each sees the changes of the previous ones. Deferred calls share one card. */
export async function invokeAll(
  uses: readonly ToolUseContent[],
  afterId: string | undefined,
  parts: InvokeContext,
): Promise<readonly Invoked[]> {
  const results = await inStep(
    uses.map((use) => async (step) => {
      if (parts.signal.aborted) throw new CinnabarError('CINNABAR_LLM_CANCELLED');
      return invoke(use, afterId, step, parts);
    }),
  );
  const held = results.filter(({ invoked }) => invoked.held);
  for (const { callId, invoked } of held) {
    await parts.onHeld({ callId, use: invoked.use, afterId, step: held[0]?.callId ?? callId });
  }
  return results.map(({ invoked }) => invoked);
}

async function invoke(use: ToolUseContent, afterId: string | undefined, step: ToolStep, parts: InvokeContext) {
  const { turn, tools, provenance, signal } = parts;
  if (use.name === FIND_TOOLS.name) {
    const { tools: found, text } = findTools(use.input, parts.permitted);
    const invoked = { use, result: resultOf(use, text), done: undefined, held: false, outcome: 'done' as const, found };
    return { callId: use.id, invoked };
  }
  if (await isWithheld(use.name, parts)) {
    const result = resultOf(use, `${use.name} is not available for what is being answered now.`, true);
    return { callId: use.id, invoked: { use, result, done: undefined, held: false, outcome: 'denied' as const } };
  }
  const outcome = await tools.invoke({
    name: use.name,
    arguments: use.input,
    actor: turn.actor,
    signal,
    origin: 'chat',
    step,
    alongside: othersOf(turn),
    ...(afterId === undefined ? {} : { messageId: afterId }),
  });
  const held = outcome.status === 'deferred';
  // A result is quoted in the channel only if every member there may read it. The model decides what to say about other results.
  const isForAll = outcome.status === 'done' && provenance.mayTell(outcome.sources, turn.actor);
  const done = isForAll ? outcome.text : undefined;
  return {
    callId: outcome.callId,
    invoked: { use, result: resultFor(use, outcome), done, held, outcome: outcome.status },
  };
}

/** The other members who are answered together with the last one. */
function othersOf({ actor, earlier }: Turn): readonly Actor[] {
  const others = new Map(earlier.map((one) => [one.actor.userId, one.actor]));
  others.delete(actor.userId);
  return [...others.values()];
}

/** Whether the turn withholds a tool that the host would execute, because another member is answered, too. The host's own refusals contain their reasons. */
async function isWithheld(wanted: string, { turn, tools, permitted }: InvokeContext): Promise<boolean> {
  if (permitted.some(({ name }) => name === wanted)) return false;
  return (await tools.offered(turn.actor)).some(({ name }) => name === wanted);
}

function resultFor(use: ToolUseContent, outcome: Outcome): ToolResultContent {
  switch (outcome.status) {
    case 'deferred':
      return resultOf(use, outcome.note);
    case 'done':
      return resultOf(use, seen(outcome.content) ?? outcome.text);
    case 'failed':
      return resultOf(use, outcome.error.message, true);
    default:
      return resultOf(use, outcome.reason, true);
  }
}

/** Text and images of a result; `undefined` if it is only text. */
function seen(content: readonly ToolContent[] | undefined): readonly ContentBlock[] | undefined {
  if (content?.some(({ type }) => type === 'image') !== true) return undefined;
  return content.flatMap((block): ContentBlock[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }];
    if (block.type !== 'image') return [];
    return [{ type: 'image', source: { type: 'base64', data: block.data, mediaType: block.mimeType } }];
  });
}

function resultOf(use: ToolUseContent, content: ToolResultContent['content'], isError = false): ToolResultContent {
  return { type: 'tool_result', toolUseId: use.id, content, ...(isError ? { isError } : {}) };
}

interface Offer {
  /** The tools declared to the model. They are the same for every member, so that the cached prefix does not change. */
  readonly declared: readonly ModelTool[];
  /** All tools that every answered member may use. */
  readonly permitted: readonly ModelTool[];
}

const NOTHING: Offer = { declared: [], permitted: [] };

/**
 * The tools for a turn. Those that every member may use, of plugins that are switched on, are declared; others are found with `find_tools`. A tool is executed
 * only if every answered member may use it: one member's text must not use another's rights. A bot's text uses no rights, because people may write through it.
 */
export async function offeredTools(
  tools: Tools,
  turn: Turn,
  { toolsEnabled, maxToolDepth, toolsOnDemand }: Pick<BotConfig, 'toolsEnabled' | 'maxToolDepth' | 'toolsOnDemand'>,
  { provider }: Pick<ModelTraits, 'provider'>,
): Promise<Offer> {
  const asking = new Map([...turn.earlier, turn].map(({ user, actor }) => [user.id, { user, actor }]));
  if (!toolsEnabled || maxToolDepth === 0 || [...asking.values()].some(({ user }) => user.bot)) return NOTHING;
  const [own = [], ...others] = await Promise.all(
    [...asking.values()].reverse().map(({ actor }) => tools.offered(actor)),
  );
  const permitted = own
    .filter(({ name }) => others.every((offered) => offered.some((tool) => tool.name === name)))
    .map(asModelTool);
  // The offline provider has no costs and does not search, so all tools are declared.
  if (provider === 'offline') return { declared: permitted, permitted };
  const available = await tools.available(turn.actor);
  const isDeclared = (tool: ToolInfo) => isForAll(tool, turn.actor) && !toolsOnDemand.includes(tool.plugin);
  const declared = available.filter(isDeclared).map(asModelTool);
  return { declared: declared.length < available.length ? [...declared, FIND_TOOLS] : declared, permitted };
}

/** Permissions that members usually have. Whether this member has them is checked when the tool is called. */
const ORDINARY: ReadonlySet<string> = new Set([
  'ViewChannel',
  'ReadMessageHistory',
  'SendMessages',
  'SendMessagesInThreads',
  'AddReactions',
]);

/** Whether every member can be expected to have a tool's permissions. */
function isForAll(
  { access: { tier = 'everyone', member = [], where = 'anywhere' } }: ToolInfo,
  { guildId }: Actor,
): boolean {
  const isHere = where === 'anywhere' || where === (guildId === null ? 'dm' : 'guild');
  return tier === 'everyone' && isHere && member.every((permission) => ORDINARY.has(permission));
}

function asModelTool({ name, description, inputSchema, examples }: ToolInfo): ModelTool {
  return { name, description, inputSchema, examples };
}

const input = z.object({ need: z.string().max(300).describe('What it should do, in a few words') });

/** A tool of the loop itself, which declares further tools to the model. */
const FIND_TOOLS: ModelTool = {
  name: 'find_tools',
  description:
    'Finds further tools, for instance for channels, messages, roles and members of Discord. Call it when what is asked needs a tool that you do not have.',
  inputSchema: z.toJSONSchema(input, { io: 'input' }),
};

const MOST = 8;
/** Number of names in the result, for tools that are not declared: a name may be enough for another request. */
const MOST_NAMES = 60;

interface Found {
  readonly tools: readonly ModelTool[];
  /** The result for the model. */
  readonly text: string;
}

/** The tools among `candidates` whose name, description or examples share most words with the request. */
function findTools(argument: unknown, candidates: readonly ModelTool[]): Found {
  const parsed = input.safeParse(argument);
  const words = parsed.success ? wordsOf(parsed.data.need) : [];
  const tools = candidates
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MOST)
    .map(({ tool }) => tool);
  if (tools.length > 0)
    return { tools, text: `You have these tools now: ${tools.map(({ name }) => name).join(', ')}.` };
  const names = candidates.slice(0, MOST_NAMES).map(({ name }) => name);
  const text =
    names.length === 0
      ? 'There are no further tools for who is answered now.'
      : `Nothing fits. There are: ${names.join(', ')}.`;
  return { tools, text };
}

/** A word in the name counts three times, since names describe what a tool is for. */
function scoreOf({ name, description, examples = [] }: ModelTool, words: readonly string[]): number {
  const inName = new Set(wordsOf(name));
  const inText = new Set(wordsOf([description, ...examples].join(' ')));
  return words.reduce((sum, word) => sum + (inName.has(word) ? 3 : 0) + (inText.has(word) ? 1 : 0), 0);
}

const COMMON = new Set(
  'a an and the to of in on for with from this that it is i me my please what who tool'.split(' '),
);

/** `Messages` and `message` are one word. */
function wordsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.filter((word) => !COMMON.has(word)).map((word) => word.replace(/(?<=\p{L}{3})s$/u, '')))];
}

const PART_LIMIT = 1_800;
/** Maximum number of messages for a result; more would displace the conversation. */
const MAX_PARTS = 3;

/**
 * Shows calls and their results in the channel, under the name of the tool. Never rejects: a failure here must not lose the answer.
 * @returns a note when they could not be shown
 */
export async function showToolOutput(
  { channel }: Pick<Turn, 'channel'>,
  invoked: readonly Invoked[],
  backoff: BackoffOptions,
): Promise<string | undefined> {
  if (!mayManageWebhooks(channel)) {
    return t('Tool output was not shown: I am missing the permission Manage Webhooks here.');
  }
  try {
    const webhook = await withDiscordBackoff(() => ownWebhook(channel), backoff);
    if (webhook === undefined) return t('Tool output was not shown: this kind of channel has no webhooks.');
    for (const one of invoked) {
      for (const content of splitMessage(textOf(one), PART_LIMIT).slice(0, MAX_PARTS)) {
        await webhook.send({
          content,
          username: usernameOf(one.use.name),
          allowedMentions: { parse: [] },
          // The flag distinguishes tool output from the bot's messages under other names.
          flags: MessageFlags.SuppressNotifications,
          ...webhookPlace(channel),
        });
      }
    }
    return undefined;
  } catch (error) {
    forgetOwnWebhook(channel);
    backoff.log.warn('tool output was not shown', { channelId: channel.id, error });
    return t('Tool output was not shown: Discord did not take it.');
  }
}

/** The text of a result. Only if every member of the channel may read it, `done` contains it. */
function textOf({ use, result, outcome, done }: Invoked): string {
  const { content } = result;
  const text = typeof content === 'string' ? content : JSON.stringify(content.map(({ type }) => type));
  const said =
    outcome === 'done' && done === undefined
      ? t('Not shown here: it was read where not everybody in this channel may read.')
      : text;
  return `\`\`\`\n${inert(JSON.stringify(use.input))}\n→ ${inert(said)}\n\`\`\``;
}

/** Escapes a tool's text, so that it cannot end the code block around it. */
function inert(text: string): string {
  return text.replaceAll('```', '`\u200B`\u200B`');
}

/** A webhook name for a tool. Discord refuses names similar to its own. */
function usernameOf(tool: string): string {
  return /discord|clyde/i.test(tool) ? 'tool' : tool;
}
