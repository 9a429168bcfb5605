import type { AccessRoom, Basics, Boundary, EnabledIn, GuildStates, ToolRoom } from '../contracts.js';
import { type AuditEntry, createAuditor } from './audit.js';
import { createChain } from './chain.js';
import { createExecution } from './execution.js';
import { createGate } from './gate.js';
import { createInterceptors } from './interceptors.js';
import { createInvoke } from './invoke.js';
import { createLedger } from './ledger/ledger.js';
import type { LedgerStore } from './ledger/store.js';
import { createSettledListeners } from './listeners.js';
import { createToolRegistry } from './registry.js';
import { expireHeld } from './view.js';

export interface ToolParts extends Basics {
  readonly access: AccessRoom;
  readonly boundary: Boundary;
  readonly states: GuildStates;
  readonly enabledIn: EnabledIn;
  /** Ids of plugins that guard tools and are enabled there but not running. */
  readonly guardsDown: (guildId: string | null) => readonly string[];
  readonly store: LedgerStore;
  /** Takes secrets out of text before it is logged. */
  readonly redact: (text: string) => string;
  /** Gets one record per call, once it has ended. */
  readonly audit: (entry: AuditEntry) => void;
}

/** Builds the room of tools: registry, interceptor chain, ledger, audit. */
export function createTools(parts: ToolParts): ToolRoom {
  const { log, boundary, enabledIn } = parts;
  const registry = createToolRegistry();
  const ledger = createLedger(parts);
  const gate = createGate(parts);
  const interceptors = createInterceptors((gone) => expireHeld(gone, gone.held));
  const execute = createExecution({ ...parts, registry, gate });
  const pass = createChain({ interceptors, enabledIn, boundary, execute, log });
  const { onSettled, tell } = createSettledListeners(log);
  const invoke = createInvoke({ ...parts, registry, ledger, gate, pass, tell, beginAudit: createAuditor(parts) });

  return {
    tool: registry.add,
    intercept: interceptors.add,
    list: () => registry.all().map((tool) => tool.info),
    async offered(actor) {
      const tools = await Promise.all(
        registry.all().map(async (tool) => ((await gate.offers(tool, actor)) ? [tool.info] : [])),
      );
      return tools.flat();
    },
    invoke,
    onSettled,
    ledger: { get: ledger.get, recent: ledger.recent },
    recover: ledger.recover,
    personalData: ledger.personalData,
  };
}
