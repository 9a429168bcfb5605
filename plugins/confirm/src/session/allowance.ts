import type { ToolCall, ToolPolicies } from '@cinnabar/sdk';
import type { Rules } from '../settings.js';
import type { Pattern } from './pattern.js';

/** What may be allowed for the rest of a task, beside the one call. */
export interface Allowance {
  /** The tool with any arguments. */
  readonly any: boolean;
  /** Calls like this one. */
  readonly like: boolean;
  /** Whether arguments may be let change in those. */
  readonly loosen: boolean;
}

const NOTHING: Allowance = { any: false, like: false, loosen: false };

/**
 * Decided anew for each call: what a guild tightens holds at once for what was allowed before. Where admins, or a grant to an agent,
 * say that each call has to be confirmed, an approval for a task is one only if the guild says `always`.
 */
export async function allowanceFor(
  { session, tool, policy, actor, at }: ToolCall,
  { sessionApprovals }: Rules,
  policies: ToolPolicies,
): Promise<Allowance> {
  if (session === undefined || sessionApprovals === 'never') return NOTHING;
  if (policy === 'confirm' && sessionApprovals !== 'always') {
    if (actor.identity !== undefined) return NOTHING;
    const { guildId } = at ?? actor;
    if (guildId !== null && (await policies.get(guildId, tool.name)) === 'confirm') return NOTHING;
  }
  if (tool.risk === 'destructive') return { any: false, like: true, loosen: false };
  return { any: sessionApprovals !== 'like-this', like: true, loosen: true };
}

/** Whether a pattern is within what may be allowed. */
export function permits({ any, like, loosen }: Allowance, pattern: Pattern): boolean {
  if (pattern.kind === 'any') return any;
  return like && (loosen || Object.keys(pattern.free).length === 0);
}
