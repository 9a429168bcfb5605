import {
  type Approval,
  type Clock,
  type Collections,
  type Random,
  type ToolCall,
  type ToolPolicies,
  z,
} from '@cinnabar/sdk';
import { fits, KINDS, type Pattern, patternWords } from './patterns.js';
import type { Rules } from './settings.js';

const patternSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('any') }),
  z.object({
    kind: z.literal('like'),
    channelId: z.string(),
    fixed: z.record(z.string(), z.unknown()),
    free: z.record(z.string(), z.enum(KINDS)),
  }),
]);
const grantSchema = z.object({
  id: z.string(),
  /** All of these have to be the same for a call to be covered. */
  origin: z.string(),
  tool: z.string(),
  plugin: z.string(),
  risk: z.string(),
  /** In which the calls take effect. */
  guildId: z.string().nullable(),
  identity: z.string().nullable(),
  /** The requester, who allowed it: only they may decide their cards. */
  userId: z.string(),
  pattern: patternSchema,
  at: z.number(),
});
type Grant = z.output<typeof grantSchema>;
const KEY = ['origin', 'tool', 'plugin', 'risk', 'guildId', 'identity', 'userId'] as const;

export const collections = {
  /** By session. */
  approvals: { scope: 'global', version: 1, schema: z.object({ grants: z.array(grantSchema).default([]) }) },
} as const;

/** More than a member clicks in one task; beyond that the oldest is asked about again. */
const MOST_PER_SESSION = 50;
/** A task that was never said to be over is over by then. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

/** What members have allowed for the rest of a task, by session. */
export function createGrants(
  { approvals }: Collections<typeof collections>,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
) {
  const of = async (sessionId: string) => (await approvals.of(sessionId).find())?.grants ?? [];
  /** Resolves with whether there was anything to remove. */
  const keep = async (sessionId: string, isKept: (grant: Grant) => boolean): Promise<boolean> => {
    if ((await of(sessionId)).every(isKept)) return false;
    await approvals.of(sessionId).update((draft) => {
      draft.grants = draft.grants.filter(isKept);
    });
    return true;
  };

  return {
    /** Written before it resolves. Throws when what would be kept is not what was shown. */
    async add(call: ToolCall, pattern: Pattern): Promise<void> {
      const { session } = call;
      if (session === undefined || call.signal.aborted) return;
      const grant = { ...keyOf(call), id: random.id(), pattern: patternSchema.parse(pattern), at: clock.now() };
      if (!fits(grant.pattern, call)) throw new Error('a pattern does not fit the call that it was made of');
      await approvals.of(session.id).update((draft) => {
        // Stopped while this waited for its turn: then the end of the task may have come first.
        if (call.signal.aborted) return;
        draft.grants = [...draft.grants, grant].slice(-MOST_PER_SESSION);
      });
    },
    /** The approval that covers this call, if there is one. */
    async covering(call: ToolCall, allowance: Allowance): Promise<Approval | undefined> {
      const { session } = call;
      if (session === undefined || !allowance.like) return undefined;
      const key = keyOf(call);
      const grant = (await of(session.id)).find(
        (one) =>
          KEY.every((part) => one[part] === key[part]) && permits(allowance, one.pattern) && fits(one.pattern, call),
      );
      return grant === undefined ? undefined : approvalOf(grant);
    },
    list: async (sessionId: string) => (await of(sessionId)).map(approvalOf),
    revoke: (sessionId: string, approvalId: string) => keep(sessionId, ({ id }) => id !== approvalId),
    end: (sessionId: string) => approvals.of(sessionId).delete(),
    async exportFor(userId: string): Promise<readonly unknown[]> {
      const found: unknown[] = [];
      for await (const [session, { grants }] of approvals.entries())
        found.push(...grants.filter((grant) => grant.userId === userId).map((grant) => ({ session, ...grant })));
      return found;
    },
    async forget(userId: string): Promise<void> {
      for await (const [session] of approvals.entries()) await keep(session, (grant) => grant.userId !== userId);
    },
    /** Removes those of sessions that were never ended. */
    async removeOld(): Promise<void> {
      const since = clock.now() - KEPT_MS;
      for await (const [session, { grants }] of approvals.entries())
        if (grants.every(({ at }) => at <= since)) await approvals.of(session).delete();
    },
  };
}

export type Grants = ReturnType<typeof createGrants>;

function keyOf({ origin, tool, actor, at }: Pick<ToolCall, 'origin' | 'tool' | 'actor' | 'at'>) {
  const { userId, identity = null } = actor;
  const { guildId } = at ?? actor;
  return { origin, tool: tool.name, plugin: tool.plugin, risk: tool.risk, guildId, identity, userId };
}

function approvalOf({ id, tool, pattern, userId, at }: Grant): Approval {
  return { id, tool, pattern: patternWords(tool, pattern), byUserId: userId, at };
}

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
