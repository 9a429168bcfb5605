import {
  CinnabarError,
  type Ledger,
  type LedgerEntry,
  type Logger,
  type Provenance,
  type SettledCall,
  TOOL_POLICIES,
  type ToolPolicies,
  type Tools,
} from '@cinnabar/sdk';
import type { ProvenanceService } from '../access/provenance.js';
import type { AccessService, Basics, Boundary, EnabledIn, GuildStates, Owner, ToolService } from '../contracts.js';
import { type AuditEntry, createAuditor } from './audit.js';
import { createExecution } from './execution.js';
import { createGate } from './gate.js';
import { createChain, createInterceptors, expireHeld } from './interceptors.js';
import { createInvoke } from './invoke.js';
import type { KeptCalls } from './ledger/history.js';
import { createLedger, type LedgerStore } from './ledger/ledger.js';
import { denied, outcomeOf } from './outcomes.js';
import { checkToolName, createToolRegistry, type RegisteredTool } from './registry.js';

interface ToolParts extends Basics {
  readonly access: AccessService;
  readonly provenance: ProvenanceService;
  readonly boundary: Boundary;
  readonly states: GuildStates;
  readonly enabledIn: EnabledIn;
  /** Ids of plugins that guard tools and are enabled there but not running. */
  readonly guardsDown: (guildId: string | null) => readonly string[];
  readonly store: LedgerStore;
  readonly kept?: KeptCalls;
  /** Takes secrets out of text before it is logged. */
  readonly redact: (text: string) => string;
  /** Gets one record per call, once it has ended. */
  readonly audit: (entry: AuditEntry) => void;
}

/** Builds the room of tools: registry, interceptor chain, ledger, audit. */
export function createTools(parts: ToolParts): ToolService {
  const { log, boundary, enabledIn, provenance } = parts;
  const registry = createToolRegistry();
  const ledger = createLedger(parts);
  const gate = createGate(parts);
  const interceptors = createInterceptors((gone) => expireHeld(gone, gone.held));
  const execute = createExecution({ ...parts, registry, gate });
  const pass = createChain({ interceptors, enabledIn, boundary, execute, log });
  const { onSettled, tell } = createSettledListeners(log);
  const finishing = new Set<Promise<void>>();
  const finish = async (call: SettledCall) => {
    const done = tell(call).then(() => ledger.archive(call.id));
    finishing.add(done);
    await done.finally(() => finishing.delete(done));
  };
  const invoke = createInvoke({ ...parts, registry, ledger, gate, pass, finish, beginAudit: createAuditor(parts) });

  const thoseFor = async (test: (tool: RegisteredTool) => Promise<boolean>) => {
    const tools = await Promise.all(registry.all().map(async (tool) => ((await test(tool)) ? [tool.info] : [])));
    return tools.flat();
  };

  let recovered: readonly LedgerEntry[] = [];

  return {
    tool: registry.add,
    intercept: interceptors.add,
    list: () => registry.all().map((tool) => tool.info),
    offered: (actor) => thoseFor((tool) => gate.offers(tool, actor)),
    available: (actor) => thoseFor((tool) => gate.isOn(tool, actor)),
    invoke,
    onSettled,
    ledger: { get: ledger.get, recent: ledger.recent },
    async recover() {
      recovered = await ledger.recover();
      return recovered.length;
    },
    async tellRecovered() {
      for (const entry of recovered) {
        const { id, tool, input, actor, origin, messageId } = entry;
        await finish({ id, tool, input, actor, origin, messageId, outcome: outcomeOf(entry) });
      }
      recovered = [];
    },
    async idle() {
      while (finishing.size > 0) await Promise.all(finishing);
    },
    personalData: {
      ...ledger.personalData,
      export: (userId) => exportCalls(ledger, provenance, userId),
    },
  };
}

/**
 * The calls that a member asked for. Arguments are in the words of a model, which had read what others said where they were written, and like the results
 * they are the member's where they may read that now.
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
      // An agent writes from all the places that it lives in, with the member's rights, and not to them.
      const mayHaveWords = identity === undefined && (await provenance.mayHave([{ guildId, channelId }], userId));
      const mayHaveResult = text !== undefined && (await provenance.mayHave(row.sources, userId));
      return {
        ...rest,
        ...(mayHaveWords
          ? { input, ...(reason === undefined ? {} : { reason }) }
          : { withheld: identity === undefined ? 'from a place that you cannot read now' : 'written by an agent' }),
        ...(mayHaveResult ? { text } : {}),
      };
    }),
  );
}

/**
 * The tools as one plugin has them: its calls carry its own name, and one that does not come with the host calls them only for people whose
 * turns, commands, clicks or calls it was given.
 */
export function boundTools(owner: Owner, tools: Tools): Tools {
  return {
    list: () => tools.list(),
    offered: (actor) => tools.offered(actor),
    available: (actor) => tools.available(actor),
    onSettled: (listener) => tools.onSettled(listener),
    async invoke(request) {
      if (owner.entrusted?.has(request.actor) === false) {
        return denied('', request.name, `the plugin "${owner.id}" was not given anything to do for this member here`);
      }
      return tools.invoke({ ...request, origin: owner.id });
    },
  };
}

/**
 * The guilds' policies by tool name. A policy may name a tool that is not loaded: a refusal outlives a reload.
 * `set` @throws CINNABAR_NAME_INVALID, CINNABAR_SETTING_INVALID
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
        const detail = `expected one of ${TOOL_POLICIES.join(', ')}`;
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

type Listener = Parameters<Tools['onSettled']>[0];

interface SettledListeners {
  readonly onSettled: Tools['onSettled'];
  /** Resolves when every listener has heard of it. Never rejects: the call is over, whatever they make of it. */
  tell(call: SettledCall): Promise<void>;
}

function createSettledListeners(log: Logger): SettledListeners {
  const listeners = new Set<{ readonly listener: Listener }>();
  return {
    onSettled(listener) {
      const entry = { listener };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    async tell(call) {
      const told = await Promise.allSettled([...listeners].map(async ({ listener }) => listener(call)));
      for (const one of told) {
        if (one.status === 'rejected') log.error('a listener to calls failed', { callId: call.id, error: one.reason });
      }
    },
  };
}
