import {
  type Actor,
  CinnabarError,
  type Clock,
  type Disposer,
  type Ledger,
  type LedgerEntry,
  type Provenance,
  type SettledCall,
  TOOL_POLICIES,
  type ToolDefinition,
  type ToolInfo,
  type ToolPolicies,
  type Tools,
  t,
  z,
} from '@cinnabar/sdk';
import type { ProvenanceService } from '../access/visibility.js';
import type { AccessService, Basics, Boundary, EnabledIn, GuildStates, Owner, ToolService } from '../contracts.js';
import type { LanguageService } from '../languages/languages.js';
import { someSchema } from '../storage/catalog/fields.js';
import { denied, outcomeOf, readArguments } from './call.js';
import { createEffects, type Effects } from './effects.js';
import { createChain, createExecution, createInterceptors, expireHeld } from './execution.js';
import { createGate, createInvoke } from './invoke.js';
import { createLedger } from './ledger.js';
import type { KeptCalls, LedgerStore } from './ledger-store.js';
import type { AuditEntry } from './presentation.js';

export interface ToolDependencies extends Basics {
  readonly access: AccessService;
  readonly provenance: ProvenanceService;
  readonly boundary: Boundary;
  readonly languages: Pick<LanguageService, 'speak'>;
  readonly states: GuildStates;
  readonly enabledIn: EnabledIn;
  /** Ids of plugins that guard tools and are enabled but not running there. */
  readonly guardsDown: (guildId: string | null) => readonly string[];
  readonly store: LedgerStore;
  readonly kept?: KeptCalls;
  /** Removes secrets from text before it is logged. */
  readonly redact: (text: string) => string;
  /** Extends the effects to the servers of other processes in a cluster. */
  readonly shareEffects?: (own: Effects) => Effects;
  /** Called with one record for each call, once it has ended. */
  readonly audit: (entry: AuditEntry) => void;
}

/** Builds the tool service: registry, interceptor chain, ledger, audit. */
export function createTools(parts: ToolDependencies): ToolService {
  const { log, provenance } = parts;
  const registry = createToolRegistry();
  const ledger = createLedger(parts);
  const interceptors = createInterceptors((gone) => expireHeld(gone, gone.held));
  const asks = (guildId: string | null) =>
    interceptors.all().some(({ owner: { plugin } }) => parts.enabledIn(guildId, plugin));
  const gate = createGate(parts, asks);
  const own = createEffects(parts, registry, gate);
  const effects = parts.shareEffects?.(own) ?? own;
  const execute = createExecution(parts, effects);
  const pass = createChain(parts, interceptors, execute);
  const listeners = new Set<{ readonly listener: Parameters<Tools['onSettled']>[0] }>();
  // Never rejects: an error of a listener is logged, and does not change the call.
  const announce = async (call: SettledCall) => {
    const results = await Promise.allSettled([...listeners].map(async ({ listener }) => listener(call)));
    for (const result of results) {
      if (result.status === 'rejected')
        log.error('a listener to calls failed', { callId: call.id, error: result.reason });
    }
  };
  const finishing = new Set<Promise<void>>();
  const finish = async (call: SettledCall) => {
    const done = announce(call).then(() => ledger.archive(call.id));
    finishing.add(done);
    await done.finally(() => finishing.delete(done));
  };
  const invoke = createInvoke(parts, registry, gate, effects, ledger, pass, finish);

  const thoseFor = async (test: (tool: RegisteredTool) => Promise<boolean>) => {
    const tools = await Promise.all(registry.all().map(async (tool) => ((await test(tool)) ? [tool.info] : [])));
    return tools.flat();
  };

  const idle = async () => {
    while (finishing.size > 0) await Promise.all(finishing);
  };
  let recovered: readonly LedgerEntry[] = [];
  let stopPruning = () => {};

  return {
    tool: registry.add,
    intercept: interceptors.add,
    list: () => registry.all().map((tool) => tool.info),
    offered: (actor) => thoseFor((tool) => gate.offers(tool, actor)),
    available: (actor) => thoseFor((tool) => gate.isOn(tool, actor)),
    async explain(actor, name) {
      const tool = registry.all().find(({ info }) => info.name === name);
      return tool === undefined ? undefined : gate.explain(tool, actor);
    },
    // Cards and results are in the requester's language; for an external agent in English.
    invoke: (request) =>
      request.actor.identity === undefined
        ? parts.languages.speak(request.actor, () => invoke(request))
        : invoke(request),
    async placeOf({ name, arguments: given, actor }) {
      const tool = registry.get(name);
      if (tool === undefined) return undefined;
      const read = await readArguments(tool.definition.input, given);
      return read.ok ? effects.place({ tool: tool.info, input: read.input, actor }) : undefined;
    },
    onSettled(listener) {
      const entry = { listener };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    ledger: { get: ledger.get, recent: ledger.recent },
    async recover() {
      recovered = await ledger.recover();
      return recovered.length;
    },
    async serve() {
      stopPruning();
      stopPruning = ledger.keepPruned();
      for (const entry of recovered) {
        const { id, tool, input, actor, origin, messageId } = entry;
        await finish({ id, tool, input, actor, origin, messageId, outcome: outcomeOf(entry) });
      }
      recovered = [];
    },
    idle,
    close() {
      stopPruning();
      return idle();
    },
    personalData: {
      ...ledger.personalData,
      export: (userId) => exportCalls(ledger, provenance, userId),
    },
  };
}

/**
 * The calls that a member requested, for an export. A model has written the arguments after it had read messages of others. So the member gets arguments, like
 * results, only when they may read those sources now.
 */
async function exportCalls(
  { recent }: Pick<Ledger, 'recent'>,
  provenance: Provenance,
  userId: string,
): Promise<unknown> {
  const rows = await recent({ userId, limit: Number.POSITIVE_INFINITY });
  return Promise.all(
    rows.map(async (row) => {
      const { guildId, channelId, identity } = row.actor;
      const { text, input, reason, ...rest } = row;
      // Arguments of an agent are withheld, since it writes from all its places, and not to the member.
      const mayHaveWords = identity === undefined && (await provenance.mayHave([{ guildId, channelId }], userId));
      const mayHaveResult = text !== undefined && (await provenance.mayHave(row.sources, userId));
      return {
        ...rest,
        ...(mayHaveWords
          ? { input, ...(reason === undefined ? {} : { reason }) }
          : {
              withheld: identity === undefined ? t('from a place that you cannot read now') : t('written by an agent'),
            }),
        ...(mayHaveResult ? { text } : {}),
      };
    }),
  );
}

/**
 * The tools for one plugin, with its id as the origin of its calls. A plugin that does not come with the host can call them only for members whose turns,
 * commands, interactions or calls it has received.
 */
export function boundTools(owner: Owner, tools: Tools): Tools {
  return {
    list: () => tools.list(),
    offered: (actor) => tools.offered(actor),
    available: (actor) => tools.available(actor),
    explain: (actor, name) => tools.explain(actor, name),
    onSettled: (listener) => tools.onSettled(listener),
    async invoke(request) {
      if (owner.entrusted?.has(request.actor) === false) {
        const reason = t('the plugin "{plugin}" was not given anything to do for this member here', {
          plugin: owner.id,
        });
        return denied('', request.name, reason);
      }
      return tools.invoke({ ...request, origin: owner.id });
    },
  };
}

/**
 * The guilds' policies by tool name. A policy may name a tool that is not loaded, so that a denial survives a reload.
 * `set` throws CINNABAR_NAME_INVALID and CINNABAR_SETTING_INVALID.
 */
export function createToolPolicies(states: GuildStates): ToolPolicies {
  const list = async (guildId: string) => (await states.load(guildId)).toolPolicies;
  return {
    async get(guildId, tool) {
      const policies = await list(guildId);
      return Object.hasOwn(policies, tool) ? policies[tool] : undefined;
    },
    async set(guildId, tool, policy) {
      checkToolName(tool);
      if (!TOOL_POLICIES.includes(policy)) {
        const detail = t('expected one of {values}', { values: TOOL_POLICIES.join(', ') });
        throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: tool, detail });
      }
      await states.update(guildId, (draft) => ({ ...draft, toolPolicies: { ...draft.toolPolicies, [tool]: policy } }));
    },
    async clear(guildId, tool) {
      await states.update(guildId, (draft) => {
        const others = Object.entries(draft.toolPolicies).filter(([name]) => name !== tool);
        return { ...draft, toolPolicies: Object.fromEntries(others) };
      });
    },
    list,
  };
}

/** A tool that one run of its plugin has registered. */
export interface RegisteredTool {
  readonly owner: Owner;
  readonly definition: ToolDefinition;
  readonly info: ToolInfo;
}

export type ToolRegistry = ReturnType<typeof createToolRegistry>;

function createToolRegistry() {
  const tools = new Map<string, RegisteredTool>();
  const isLive = ({ owner }: RegisteredTool) => !owner.scope.signal.aborted;

  return {
    /** @throws CINNABAR_NAME_INVALID, CINNABAR_NAME_TAKEN, CINNABAR_PLUGIN_INVALID, CINNABAR_SCOPE_CLOSED */
    add(owner: Owner, definition: ToolDefinition): Disposer {
      const { name } = definition;
      checkToolName(name);
      const taken = tools.get(name);
      // A tool that yields is replaced, and refused if it comes second, so that the order of registration has no effect.
      if (taken?.definition.yields === true && definition.yields !== true) tools.delete(name);
      else if (taken !== undefined) {
        throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'tool', name, plugin: taken.owner.id });
      }
      const tool = { owner, definition, info: describe(owner, definition) };
      const dispose = owner.scope.add(`tool ${name}`, () => {
        if (tools.get(name) === tool) tools.delete(name);
      });
      tools.set(name, tool);
      return dispose;
    },
    /** The tool of that name; `undefined` also while its plugin is stopping. */
    get(name: string): RegisteredTool | undefined {
      const tool = tools.get(name);
      return tool !== undefined && isLive(tool) ? tool : undefined;
    },
    all: (): readonly RegisteredTool[] => [...tools.values()].filter(isLive),
  };
}

function describe(owner: Owner, definition: ToolDefinition): ToolInfo {
  assertPlainInput(owner, definition);
  const { inputSchema } = definition;
  // Copied, since the caller may change its own object.
  let schema = inputSchema === undefined ? undefined : Object.freeze(structuredClone(inputSchema));
  return Object.freeze({
    name: definition.name,
    plugin: owner.id,
    description: definition.description,
    risk: definition.risk,
    access: definition.access ?? {},
    examples: definition.examples ?? [],
    idempotent: definition.idempotent ?? definition.risk === 'read',
    get inputSchema() {
      // Made at the first use, which most starts do not have. `io: 'input'` makes an argument with a default optional for a model.
      schema ??= Object.freeze({ ...z.toJSONSchema(definition.input, { target: 'draft-2020-12', io: 'input' }) });
      return schema;
    },
  });
}

/** Checks that parsed arguments are plain JSON (no transforms, dates or instances), since they are hashed, stored and shown. @throws CINNABAR_PLUGIN_INVALID */
function assertPlainInput(owner: Owner, { name, input }: ToolDefinition): void {
  // For nearly every tool this shortcut replaces zod's check below, which would take a tenth of a start for all of them.
  if (!someSchema(input, (part) => !isPlain(part))) return;
  try {
    z.toJSONSchema(input, { io: 'output' });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const detail = `the input of its tool "${name}" must be plain JSON: ${why}`;
    throw new CinnabarError('CINNABAR_PLUGIN_INVALID', { place: owner.id, detail }, { cause: error });
  }
}

/**
 * Whether a schema's own values are plain JSON. Excludes one with an id, which no other part may have, and `any` and `unknown`, whose default may be anything.
 */
const isPlain = (part: z.core.$ZodType): boolean =>
  PLAIN.has(part._zod.def.type) && z.globalRegistry.get(part)?.id === undefined;

/** The types of schemas whose values are plain JSON when those of their parts are. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['string', 'number', 'boolean', 'null', 'enum', 'template_literal', 'never'],
  ...['object', 'record', 'array', 'tuple', 'union', 'intersection'],
  ...['optional', 'nonoptional', 'nullable', 'default', 'prefault', 'readonly'],
]);

/** Names that every provider accepts for a function. */
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** @throws CINNABAR_NAME_INVALID */
function checkToolName(name: string): void {
  if (TOOL_NAME.test(name)) return;
  const detail = 'letters, digits and _, starting with a letter, at most 64';
  throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'tool', name, detail });
}

const KEPT_MS = 60 * 60_000;
/** More recent entries are not renewed, since `give` is called with every command. */
const RENEWED_AFTER_MS = 60_000;
const MOST = 5_000;

/** The actors of the turns, commands, interactions and calls that a third-party plugin received recently: it may call tools only for them. */
export type Entrusted = ReturnType<typeof createEntrusted>;

export function createEntrusted(clock: Pick<Clock, 'now'>) {
  const given = new Map<string, number>();
  const keyOf = ({ userId, guildId, channelId, identity = '' }: Actor) =>
    // Ids contain no spaces.
    `${userId} ${guildId} ${channelId} ${identity}`;
  return {
    give(actor: Actor): void {
      const key = keyOf(actor);
      const now = clock.now();
      const known = given.get(key);
      if (known !== undefined && Math.abs(now - known) < RENEWED_AFTER_MS) return;
      // Moves the entry to the end: the oldest is the first.
      given.delete(key);
      given.set(key, now);
      if (given.size <= MOST) return;
      const [oldest] = given.keys();
      if (oldest !== undefined) given.delete(oldest);
    },
    has: (actor: Actor): boolean => (given.get(keyOf(actor)) ?? Number.NEGATIVE_INFINITY) > clock.now() - KEPT_MS,
  };
}
