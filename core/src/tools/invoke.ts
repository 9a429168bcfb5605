import type { Logger, Outcome, Random, SettledOutcome, ToolRequest, Tools } from '@cinnabar/sdk';
import { readArguments } from './arguments.js';
import type { AuditTrail } from './audit.js';
import { createLiveCall, type LiveCall } from './call.js';
import { renderCard } from './card.js';
import type { Gate } from './gate.js';
import type { CallLedger } from './ledger/ledger.js';
import type { SettledListeners } from './listeners.js';
import { failed } from './outcomes.js';
import type { ToolRegistry } from './registry.js';
import { thrownOutcome } from './result.js';

interface Parts {
  readonly registry: ToolRegistry;
  readonly gate: Gate;
  readonly ledger: CallLedger;
  readonly pass: (call: LiveCall, onDeferred: (note: string) => void) => Promise<SettledOutcome>;
  readonly beginAudit: (callId: string, request: ToolRequest) => AuditTrail;
  readonly tell: SettledListeners['tell'];
  readonly random: Random;
  readonly log: Logger;
}

/** From a request to its outcome. Never throws: everything that can go wrong is an outcome, with one audit record. */
export function createInvoke({ registry, gate, ledger, pass, beginAudit, tell, random, log }: Parts): Tools['invoke'] {
  return async function invoke(request: ToolRequest): Promise<Outcome> {
    const callId = random.id();
    const trail = beginAudit(callId, request);
    const proposed = await propose(callId, request, trail).catch((error: unknown) =>
      thrownOutcome(callId, request.name, error, log),
    );
    const close = async (outcome: SettledOutcome): Promise<SettledOutcome> => {
      trail.close(outcome);
      const input = 'status' in proposed ? request.arguments : proposed.input;
      const { name: tool, actor, origin, messageId } = request;
      await tell({ id: callId, tool, input, actor, origin, messageId, outcome });
      return outcome;
    };
    if ('status' in proposed) return close(proposed);
    return new Promise((resolve) => {
      const settled = pass(proposed, (note) => resolve({ status: 'deferred', callId, note, settled })).then(close);
      void settled.then(resolve);
    });
  };

  /** Asks what is asked of every call, and writes its first row. */
  async function propose(id: string, request: ToolRequest, trail: AuditTrail): Promise<LiveCall | SettledOutcome> {
    const { name, actor, origin } = request;
    const tool = registry.get(name);
    if (tool === undefined) return failed(id, 'CINNABAR_TOOL_UNKNOWN', { tool: name });
    trail.note({ plugin: tool.info.plugin });
    const place = await gate.place(id, tool, actor);
    trail.note({ policy: place.policy });
    if ('refusal' in place) return place.refusal;
    const read = readArguments(tool.definition.input, request.arguments);
    if (!read.ok) return failed(id, 'CINNABAR_TOOL_ARGUMENTS', { tool: name, detail: read.detail });
    trail.note({ argumentsHash: read.hash });
    const person = await gate.person(id, tool, actor, 'cached');
    trail.note({ access: person.reasons });
    if ('refusal' in person) return person.refusal;
    const proposal = {
      id,
      tool,
      input: read.input,
      argumentsHash: read.hash,
      actor,
      signal: request.signal ?? new AbortController().signal,
      card: renderCard(tool.info, tool.definition, read.input),
      policy: place.policy,
      messageId: request.messageId,
      onProgress: request.onProgress,
    };
    const { input, argumentsHash } = proposal;
    await ledger.open({ id, tool: name, plugin: tool.info.plugin, origin, input, argumentsHash, actor });
    return createLiveCall({ ledger, log, trail, proposal });
  }
}
