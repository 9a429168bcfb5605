import type { Target } from '../agents/target.js';
import type { Agents } from '../letta/types.js';
import { renderPrompt } from '../prompts/render.js';
import type { GuildRules } from '../settings.js';
import type { Batch } from '../types.js';
import { isAsked } from './asked.js';

/** The prompt as the agent gets it. A tool is only named when the agent has it at the server, and here the right to use it. */
export async function promptFor(
  batch: Batch,
  { agentId, granted, name }: Target,
  { mcp_guidance_enabled: enabled, whenSilent }: GuildRules,
  agents: Pick<Agents, 'toolsOf'>,
): Promise<string> {
  const attached = enabled ? await agents.toolsOf(agentId) : new Set<string>();
  const tools = new Set([...granted].filter((name) => attached.has(name)));
  const prompt = renderPrompt(batch, { tools, enabled, postsForIt: whenSilent === 'post' && batch.some(isAsked) });
  return batch[0].guildId === null
    ? prompt
    : `${prompt}\n\n**You Are:** ${name} here (agent ID: ${agentId}). Other agents may answer here under other names.`;
}
