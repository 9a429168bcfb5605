import {
  type Actor,
  type Logger,
  type Outcome,
  type Place,
  type Random,
  RESULT_CHARACTERS,
  type SettledCall,
  type SettledOutcome,
  type ToolCall,
  type ToolRequest,
  type Tools,
} from '@cinnabar/sdk';
import type { ProvenanceService } from '../access/provenance.js';
import type { AccessService } from '../contracts.js';
import { type Arguments, readArguments } from './arguments.js';
import { type AuditTrail, shownArguments, shownInput } from './audit.js';
import { createLiveCall, type LiveCall, type Proposal } from './call.js';
import { renderCard } from './card.js';
import { type Gate, targetOf } from './gate.js';
import { createIdempotency, idempotencyKeyOf } from './idempotency.js';
import type { CallLedger } from './ledger/ledger.js';
import { failed, thrownOutcome, withinBound } from './outcomes.js';
import type { RegisteredTool, ToolRegistry } from './registry.js';

interface Parts {
  readonly registry: ToolRegistry;
  readonly gate: Gate;
  readonly access: Pick<AccessService, 'actorAt'>;
  readonly provenance: Pick<ProvenanceService, 'mayTell'>;
  readonly ledger: CallLedger;
  readonly pass: (call: LiveCall, onDeferred: (note: string) => void) => Promise<SettledOutcome>;
  readonly beginAudit: (callId: string, request: ToolRequest) => AuditTrail;
  /** Tells those that listen for ends, and puts the call away. */
  readonly finish: (call: SettledCall) => Promise<void>;
  readonly random: Random;
  /** Takes secrets out of text. */
  readonly redact: (text: string) => string;
  readonly log: Logger;
}

/** From a request to its outcome. Never throws: everything that can go wrong is an outcome, with one audit record. */
export function createInvoke({
  registry,
  gate,
  access,
  provenance,
  ledger,
  pass,
  beginAudit,
  finish,
  random,
  redact,
  log,
}: Parts): Tools['invoke'] {
  const once = createIdempotency({ ledger, registry });

  async function begin(request: ToolRequest): Promise<Outcome> {
    const callId = random.id();
    const trail = beginAudit(callId, request);
    const proposed = await propose(callId, request, trail).catch((error: unknown) =>
      thrownOutcome(callId, request.name, error, log),
    );
    const close = async (ended: SettledOutcome): Promise<SettledOutcome> => {
      const outcome = withinBound(ended, mostOf(request));
      trail.close(outcome);
      const { input, actor } = 'status' in proposed ? { ...request, input: request.arguments } : proposed;
      const { name: tool, origin, messageId } = request;
      await finish({ id: callId, tool, input: shownInput(input, redact), actor, origin, messageId, outcome });
      return outcome;
    };
    if ('status' in proposed) return close(proposed);
    return new Promise((resolve) => {
      const settled = pass(proposed, (note) => resolve({ status: 'deferred', callId, note, settled })).then(close);
      void settled.then(resolve);
    });
  }

  /** Asks what is asked of every call, and writes its first row. */
  async function propose(id: string, request: ToolRequest, trail: AuditTrail): Promise<LiveCall | SettledOutcome> {
    const { name, origin } = request;
    const tool = registry.get(name);
    if (tool === undefined || isHidden(tool, origin)) return failed(id, 'CINNABAR_TOOL_UNKNOWN', { tool: name });
    trail.note({ plugin: tool.info.plugin });
    const here = await gate.place(id, tool, request.actor, undefined);
    trail.note({ policy: here.policy });
    if (here.refusal !== undefined) return here.refusal;
    const read = await readArguments(tool.definition.input, request.arguments);
    if (!read.ok) return failed(id, 'CINNABAR_TOOL_ARGUMENTS', { tool: name, detail: read.detail });
    trail.note({ argumentsHash: read.hash });
    const { input, hash: argumentsHash } = read;
    const { at, actor } = await actorOf(request, tool, input, trail);
    const { alongside = [] } = request;
    const unfit = await refusalOfPeople(id, tool, [actor, ...alongside], at, trail);
    if (unfit !== undefined) return unfit;
    const there = at === undefined ? here : await gate.place(id, tool, actor, at);
    trail.note({ policy: there.policy });
    if (there.refusal !== undefined) return there.refusal;
    await tool.definition.check?.(input, { actor });
    const key = idempotencyKeyOf(request);
    const { messageId } = request;
    await ledger.open({
      ...{ id, tool: name, plugin: tool.info.plugin, origin, argumentsHash, actor },
      // What runs is in memory and known by its hash; what is kept is for people.
      input: shownArguments(input, redact),
      ...(key === undefined ? {} : { key }),
      ...(messageId === undefined ? {} : { messageId }),
    });
    const proposal: Proposal = {
      id,
      tool,
      input,
      argumentsHash,
      actor,
      at,
      origin,
      alongside,
      reading: readingOf(tool, actor, at),
      session: request.session,
      step: request.step,
      key: request.key ?? id,
      signal: request.signal ?? new AbortController().signal,
      card: await renderCard(tool.info, tool.definition, input, actor, redact),
      policy: there.policy,
      messageId,
      mostCharacters: mostOf(request),
      onProgress: request.onProgress,
    };
    return createLiveCall({ ledger, log, trail, proposal });
  }

  /** Checks first whether the place is within reach: an actor outside it learns nothing of its rules. */
  async function refusalOfPeople(
    id: string,
    tool: RegisteredTool,
    people: readonly Actor[],
    at: Place | undefined,
    trail: AuditTrail,
  ): Promise<SettledOutcome | undefined> {
    for (const one of people) {
      const person = await gate.person(id, tool, one, at, 'cached');
      trail.note({ access: person.reasons });
      if (person.refusal !== undefined) return person.refusal;
    }
    return undefined;
  }

  /** Where it takes effect, and who acts there. */
  async function actorOf({ actor: asked }: ToolRequest, tool: RegisteredTool, input: Arguments, trail: AuditTrail) {
    const at = await targetOf(tool, input, asked);
    if (at === undefined) return { at, actor: asked };
    const actor = await access.actorAt(asked, at);
    trail.note({ at, actor });
    return { at, actor };
  }

  /** What is known of it before it has run. */
  function readingOf({ info, definition }: RegisteredTool, actor: Actor, at: Place | undefined): ToolCall['reading'] {
    if (info.risk !== 'read') return 'nothing';
    if (actor.guildId === null) return 'open';
    if (at !== undefined && !provenance.mayTell([at], actor)) return 'private';
    return definition.sources === undefined || at !== undefined ? 'open' : 'unknown';
  }

  return (request) =>
    once(request, () => begin(request)).catch((error: unknown) => thrownOutcome('', request.name, error, log));
}

const mostOf = ({ mostCharacters = RESULT_CHARACTERS }: ToolRequest) => Math.max(200, mostCharacters);

/** To anybody but its own plugin an internal tool does not exist. */
const isHidden = ({ definition, owner }: RegisteredTool, origin: string) =>
  definition.internal === true && owner.id !== origin;
