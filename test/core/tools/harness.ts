import type { Driver } from '@cinnabar/core';
import type { ProvenanceService } from '@cinnabar/core/internal/access/visibility';
import type { AccessService } from '@cinnabar/core/internal/contracts';
import { createBoundary, createInFlight } from '@cinnabar/core/internal/gateway/boundary';
import { createEnabledIn } from '@cinnabar/core/internal/gateway/guild-states';
import { createLanguages } from '@cinnabar/core/internal/languages/languages';
import { createSubjectIndex } from '@cinnabar/core/internal/storage/subjects';
import { createLedger } from '@cinnabar/core/internal/tools/ledger';
import { createLedgerStore } from '@cinnabar/core/internal/tools/ledger-store';
import type { AuditEntry } from '@cinnabar/core/internal/tools/presentation';
import { createToolPolicies, createTools } from '@cinnabar/core/internal/tools/tools';
import { createMemoryDriver } from '@cinnabar/core/testing';
import {
  type Actor,
  type Clock,
  type Interceptor,
  type Logger,
  type ToolDefinition,
  type ToolInput,
  z,
} from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { memoryGuildStates, memoryOwnerState } from '../../support/guild-states.js';
import { recordingLogger } from '../../support/logs.js';
import { ownerOf } from '../plugins/support/harness.js';

export const GUILD = '900';
export const alice: Actor = { userId: '1', guildId: GUILD, channelId: '901' };
export const bob: Actor = { ...alice, userId: '2' };

/** Ids that sort by time, for all tool services that share them. */
export function countingIds(): () => string {
  let last = 0;
  return () => `call-${String(++last).padStart(6, '0')}`;
}

interface Shared {
  readonly driver?: Driver;
  readonly ids?: () => string;
  /** Replaces an access service that only refuses members of `denied`. */
  readonly access?: Partial<AccessService>;
}

/** Everyone may read everything. */
const OPEN: ProvenanceService = {
  mayShow: async () => true,
  mayHave: async () => true,
  mayTell: () => true,
  messages: { seen: () => undefined, stand: async () => true },
};

/** The ledger's store: documents of the driver, indexed by the people that they are about. */
export function ledgerStoreOn(driver: Driver, log: Logger = recordingLogger()) {
  return createLedgerStore(driver, log, createSubjectIndex(driver));
}

/** The ledger without the other services. */
export function ledgerOn(
  driver: Driver,
  clock: Clock,
  log: Logger = recordingLogger(),
  kept?: { readonly days: number; readonly calls: number },
) {
  return createLedger({ store: ledgerStoreOn(driver, log), clock, log, ...(kept && { kept }) });
}

/** A tool service with real parts: manual time, documents in memory, and an access service that tests can turn against a user. */
export function openToolHarness({ driver = createMemoryDriver(), ids = countingIds(), access: own }: Shared = {}) {
  const clock = createManualClock();
  const log = recordingLogger();
  const states = memoryGuildStates();
  const shutOut = new Set<string>();
  const asked: { readonly userId: string; readonly fresh: boolean }[] = [];
  const decide = async ({ userId }: Actor, fresh: boolean) => {
    asked.push({ userId, fresh });
    const allowed = !shutOut.has(userId);
    const text = allowed ? 'everyone may use this' : 'you are no longer in this server';
    return { allowed, reasons: [{ rule: 'actor', allowed, text }] };
  };
  const access: AccessService = {
    decide: (actor) => decide(actor, false),
    decideFresh: (actor) => decide(actor, true),
    decideListed: (actor) => decide(actor, false),
    mayIgnore: () => false,
    ignores: () => false,
    actorAt: async (actor) => actor,
    mayEnter: async () => true,
    membershipsAreLive: () => true,
    modeOf: async () => undefined,
    tierOf: async () => 'everyone',
    isOwner: () => false,
    owners: async () => [],
    ...own,
  };
  const inFlight = createInFlight(clock);
  const boundary = createBoundary({
    clock,
    log,
    inFlight,
    blockage: {
      enter: () => 0,
      leave: () => undefined,
      open: () => undefined,
      start: () => undefined,
      stop: () => undefined,
    },
    isDiscordFailure: () => false,
    alert: () => undefined,
  });
  const audits: AuditEntry[] = [];
  const guardsDown: string[] = [];
  const service = createTools({
    clock,
    random: { next: () => 0, id: ids },
    log,
    access,
    provenance: OPEN,
    languages: createLanguages({ folders: () => [], log }),
    boundary,
    states,
    enabledIn: createEnabledIn(states, memoryOwnerState()),
    guardsDown: () => guardsDown,
    store: ledgerStoreOn(driver, log),
    redact: (text) => text.replaceAll('hunter2', '[secret]'),
    audit: (entry) => void audits.push(entry),
  });

  const load = (id: string) => ownerOf(id, {}, { clock, log });

  return {
    service,
    clock,
    log,
    states,
    policies: createToolPolicies(states),
    shutOut,
    asked,
    audits,
    guardsDown,
    inFlight,
    load,
  };
}

/** A tool that records its inputs. */
export function recordingTool(runs: unknown[], more: Partial<ToolDefinition> = {}): ToolDefinition {
  const input: ToolInput = z.object({ name: z.string(), role: z.string().default('Solo') });
  return {
    name: 'add_party_character',
    description: 'Adds a character',
    risk: 'write',
    input,
    run(given) {
      runs.push(given);
      return { added: given.name };
    },
    ...more,
  };
}

/** An interceptor that holds each call, as a confirmation does; the test decides. */
export function holdingInterceptor() {
  const calls: Parameters<Interceptor['handle']>[0][] = [];
  const settle: (() => void)[] = [];
  const nexts: Parameters<Interceptor['handle']>[1][] = [];
  const interceptor: Interceptor = {
    name: 'confirm',
    order: 0,
    async handle(call, next) {
      await call.hold();
      calls.push(call);
      nexts.push(next);
      const settled = new Promise<void>((resolve) => settle.push(resolve)).then(next);
      return { status: 'deferred', callId: call.id, note: 'Not run yet.', settled };
    },
  };
  return {
    interceptor,
    calls,
    nexts,
    /** Continues the latest held call, as a reaction does after `approve`. */
    goOn: () => settle.at(-1)?.(),
  };
}
