import type { Actor, ModelTool, ModelTraits, ToolInfo, Tools, Turn } from '@cinnabar/sdk';
import type { BotConfig } from '../../config/schema.js';
import { FIND_TOOLS } from './find-tools.js';

export interface Offer {
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
