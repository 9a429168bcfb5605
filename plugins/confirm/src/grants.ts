import { isDeepStrictEqual } from 'node:util';
import {
  type Approval,
  type Clock,
  type Collections,
  inWords,
  type Random,
  type ToolCall,
  type ToolPolicies,
  t,
  z,
} from '@cinnabar/sdk';
import type { Rules } from './context.js';
import { literalOf, shorten } from './render.js';

/** The type that a variable argument must keep: that of a JSON value. */
const KINDS = ['text', 'number', 'truth value', 'list', 'object', 'nothing'] as const;
type Kind = (typeof KINDS)[number];

/** The calls of a tool that a member allows: all of them, or those whose arguments are like those of one call. */
export type Pattern =
  | { readonly kind: 'any' }
  | {
      readonly kind: 'like';
      /** The channel of the request; a grant does not cover calls from other channels. */
      readonly channelId: string;
      readonly fixed: Arguments;
      readonly free: Readonly<Record<string, Kind>>;
    };
type Arguments = Readonly<Record<string, unknown>>;

/** Minimum length of prose in characters, which differs in each call. */
const LONG_TEXT = 80;
/** Discord's maximum number of options in a menu; further arguments stay fixed. */
const MOST_CHOICES = 25;
/** A name that is the same as an option's value; Discord accepts at most 100 characters. */
const PLAIN_NAME = /^[\w.:-]{1,100}$/;

/** The arguments that a member can allow to vary, in the order of the call. */
export function choicesOf(input: Arguments): readonly string[] {
  return Object.keys(plain(input))
    .filter((name) => PLAIN_NAME.test(name))
    .slice(0, MOST_CHOICES);
}

/** The arguments that stay the same by default: all but long texts. */
export function usuallyFixed(input: Arguments): ReadonlySet<string> {
  return new Set(choicesOf(input).filter((name) => !isProse(input[name])));
}

/** The pattern of calls like this one. @param fixed those of its `choicesOf` that stay the same */
export function patternLike({ input, actor }: Pick<ToolCall, 'input' | 'actor'>, fixed: ReadonlySet<string>): Pattern {
  const free = new Set(choicesOf(input).filter((name) => !fixed.has(name)));
  const entries = Object.entries(plain(input));
  return {
    kind: 'like',
    channelId: actor.channelId,
    fixed: Object.fromEntries(entries.filter(([name]) => !free.has(name))),
    free: Object.fromEntries(entries.filter(([name]) => free.has(name)).map(([name, value]) => [name, kindOf(value)])),
  };
}

/** Whether a call has exactly the arguments of the pattern, each with the same value or with the allowed type. */
export function fits(pattern: Pattern, { input, actor }: Pick<ToolCall, 'input' | 'actor'>): boolean {
  if (pattern.kind === 'any') return true;
  const { channelId, fixed, free } = pattern;
  const given = Object.entries(plain(input));
  if (actor.channelId !== channelId) return false;
  if (given.length !== Object.keys(fixed).length + Object.keys(free).length) return false;
  return given.every(([name, value]) =>
    Object.hasOwn(fixed, name)
      ? isDeepStrictEqual(value, fixed[name])
      : Object.hasOwn(free, name) && kindOf(value) === free[name],
  );
}

/** The arguments as plain JSON, in which form they are stored, so that stored and new calls can be compared. */
function plain(input: Arguments): Arguments {
  const copy: unknown = JSON.parse(JSON.stringify(input));
  return typeof copy === 'object' && copy !== null ? { ...copy } : {};
}

function kindOf(value: unknown): Kind {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'truth value' : 'object';
}

function isProse(value: unknown): boolean {
  return typeof value === 'string' && (value.length >= LONG_TEXT || value.includes('\n'));
}

/** Maximum length of a value; the card of the call has shown all of it. */
const LONGEST_VALUE = 120;

/** A description of the calls that a pattern allows, unescaped: `errand where note is any text and what is "milk"`. Variable arguments come first. */
export function patternWords(tool: string, pattern: Pattern): string {
  if (pattern.kind === 'any') return t('{tool} with any arguments', { tool });
  const fixed = Object.entries(pattern.fixed).map(([name, value]) =>
    t('{name} is {value}', { name, value: shorten(literalOf(value), LONGEST_VALUE) }),
  );
  return sentence(tool, [...freeWords(pattern), ...fixed]);
}

/** The same, shorter if necessary. All variable arguments are named; `undefined` when there is no space for them. */
export function briefPatternWords(
  tool: string,
  pattern: Pattern,
  fits: (words: string) => boolean,
): string | undefined {
  const whole = patternWords(tool, pattern);
  if (fits(whole) || pattern.kind === 'any') return whole;
  const free = freeWords(pattern);
  const rest =
    free.length === 0
      ? t('every argument is exactly as on the card')
      : t('every other argument is exactly as on the card');
  const brief = sentence(tool, [...free, rest]);
  return fits(brief) ? brief : undefined;
}

function freeWords({ free }: Extract<Pattern, { kind: 'like' }>): readonly string[] {
  return Object.entries(free).map(([name, kind]) =>
    t(
      '{name} is any {kind, select, text {text} number {number} list {list} nothing {nothing} object {object} other {truth value}}',
      { name, kind },
    ),
  );
}

function sentence(tool: string, parts: readonly string[]): string {
  return parts.length === 0
    ? t('{tool} without arguments', { tool })
    : t('{tool} where {conditions}', { tool, conditions: inWords(parts) });
}

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
  /** A call is covered only if all of these are the same. */
  origin: z.string(),
  tool: z.string(),
  plugin: z.string(),
  risk: z.string(),
  /** The guild in which the calls take effect. */
  guildId: z.string().nullable(),
  identity: z.string().nullable(),
  /** The requester, who gave the grant; only requesters decide their cards. */
  userId: z.string(),
  pattern: patternSchema,
  at: z.number(),
});
type Grant = z.output<typeof grantSchema>;
const KEY = ['origin', 'tool', 'plugin', 'risk', 'guildId', 'identity', 'userId'] as const;

export const collections = {
  /** The grants by session. */
  approvals: {
    scope: 'global',
    version: 1,
    schema: z.object({ grants: z.array(grantSchema).default([]) }),
    personal: { each: 'grants', by: 'userId' },
    // Only read by key; one process deletes old ones for all processes.
    shared: false,
  },
} as const;

/** Maximum number of grants for one task, more than members give; beyond it the oldest is dropped, and its calls need a confirmation again. */
const MOST_PER_SESSION = 50;
/** After this time, a task whose end was not reported counts as ended. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

/** Members' grants for the rest of a task, by session. */
export function createGrants(
  { approvals }: Collections<typeof collections>,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
) {
  const of = async (sessionId: string) => (await approvals.of(sessionId).find())?.grants ?? [];
  /** Removes the other grants. Resolves with whether any was removed. */
  const keep = async (sessionId: string, isKept: (grant: Grant) => boolean): Promise<boolean> => {
    if ((await of(sessionId)).every(isKept)) return false;
    await approvals.of(sessionId).update((draft) => {
      draft.grants = draft.grants.filter(isKept);
    });
    return true;
  };

  return {
    /** Stores a grant; resolves when it is written. Throws when the stored pattern would differ from the shown one. */
    async add(call: ToolCall, pattern: Pattern): Promise<void> {
      const { session } = call;
      if (session === undefined || call.signal.aborted) return;
      const grant = { ...keyOf(call), id: random.id(), pattern: patternSchema.parse(pattern), at: clock.now() };
      if (!fits(grant.pattern, call)) throw new Error('a pattern does not fit the call that it was made of');
      await approvals.of(session.id).update((draft) => {
        // The session was removed while this waited for the mutex: the task has ended.
        if (call.signal.aborted) return;
        draft.grants = [...draft.grants, grant].slice(-MOST_PER_SESSION);
      });
    },
    /** The grant that covers this call; `undefined` without one. */
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
    /** Removes the grants of sessions whose end was not reported. */
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

/** Which grants for the rest of a task are offered in addition to the single call. */
export interface Allowance {
  /** A grant for the tool with any arguments. */
  readonly any: boolean;
  /** A grant for calls like this one. */
  readonly like: boolean;
  /** Whether arguments may vary in a grant for calls like this one. */
  readonly loosen: boolean;
}

const NOTHING: Allowance = { any: false, like: false, loosen: false };

/**
 * Which grants a call allows. Evaluated for each call, so that a stricter setting of a guild also applies to earlier grants. When admins, or a grant to an
 * agent, require that each call is confirmed, grants for a task apply only if the guild's setting is `always`.
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

/** Whether a pattern is among the allowed grants. */
export function permits({ any, like, loosen }: Allowance, pattern: Pattern): boolean {
  if (pattern.kind === 'any') return any;
  return like && (loosen || Object.keys(pattern.free).length === 0);
}
