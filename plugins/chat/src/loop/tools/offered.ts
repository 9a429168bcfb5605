import type { ModelTool, Tools, Turn } from '@cinnabar/sdk';
import type { BotConfig } from '../../config/schema.js';

/**
 * The tools for a turn: those that everyone may use who is answered by it, since nobody's words should move another one's rights. A bot's
 * words move none: people may be speaking through it.
 */
export async function offeredTools(
  tools: Tools,
  turn: Turn,
  { toolsEnabled, maxToolDepth }: Pick<BotConfig, 'toolsEnabled' | 'maxToolDepth'>,
): Promise<readonly ModelTool[]> {
  const asking = new Map([...turn.earlier, turn].map(({ user, actor }) => [user.id, { user, actor }]));
  if (!toolsEnabled || maxToolDepth === 0 || [...asking.values()].some(({ user }) => user.bot)) return [];
  const [own, ...others] = await Promise.all([...asking.values()].reverse().map(({ actor }) => tools.offered(actor)));
  return (own ?? [])
    .filter(({ name }) => others.every((offered) => offered.some((tool) => tool.name === name)))
    .map(({ name, description, inputSchema, examples }) => ({ name, description, inputSchema, examples }));
}
