import { type Actor, type ModelTool, type ModelTraits, type ToolInfo, type Tools, type Turn, z } from '@cinnabar/sdk';
import type { BotConfig } from '../../config/schema.js';

interface Offer {
  /** Declared to the model: the same for every member, so that the prefix that providers cache stays the same. */
  readonly declared: readonly ModelTool[];
  /** All that everyone may use who is answered. */
  readonly permitted: readonly ModelTool[];
}

const NOTHING: Offer = { declared: [], permitted: [] };

/**
 * The tools for a turn. Those that every member may use, of the plugins that are in use, are declared; the others are found with `find_tools`
 * when they are needed. A tool runs only when every member who is answered may use it: the words of one must not
 * move the rights of another. A bot's words move none: people may be speaking through it.
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
  // It costs nothing, and looks for nothing.
  if (provider === 'offline') return { declared: permitted, permitted };
  const available = await tools.available(turn.actor);
  const isDeclared = (tool: ToolInfo) => isForAll(tool, turn.actor) && !toolsOnDemand.includes(tool.plugin);
  const declared = available.filter(isDeclared).map(asModelTool);
  return { declared: declared.length < available.length ? [...declared, FIND_TOOLS] : declared, permitted };
}

/** What members have as a rule; whether this one has it there is asked when the tool is called. */
const ORDINARY: ReadonlySet<string> = new Set([
  'ViewChannel',
  'ReadMessageHistory',
  'SendMessages',
  'SendMessagesInThreads',
  'AddReactions',
]);

/** Whether a tool asks for nothing more than to be there. */
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

/** Answered by the loop itself: gives the model tools that it is not given always. */
export const FIND_TOOLS: ModelTool = {
  name: 'find_tools',
  description:
    'Finds further tools, for instance for channels, messages, roles and members of Discord. Call it when what is asked needs a tool that you do not have.',
  inputSchema: z.toJSONSchema(input, { io: 'input' }),
};

const MOST = 8;
/** Of a tool that does not fit, its name may be enough to ask again. */
const MOST_NAMES = 60;

interface Found {
  readonly tools: readonly ModelTool[];
  /** For the model. */
  readonly text: string;
}

/** The tools among `candidates` whose name, description or examples have most of the words in common with what is needed. */
export function findTools(argument: unknown, candidates: readonly ModelTool[]): Found {
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

/** A word in the name counts three times: names are made of what a tool is about. */
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
