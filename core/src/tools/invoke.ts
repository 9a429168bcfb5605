import {
  type Actor,
  type Decision,
  type DecisionReason,
  type ExplainedTool,
  type Outcome,
  type Place,
  RESULT_CHARACTERS,
  type SettledCall,
  type SettledOutcome,
  type ToolCall,
  type ToolPolicy,
  type ToolRequest,
  type Tools,
  t,
} from '@cinnabar/sdk';
import { refusalReasons } from '../access/access.js';
import {
  type Arguments,
  createLiveCall,
  denied,
  failed,
  type LiveCall,
  type Proposal,
  readArguments,
  thrownOutcome,
  withinBound,
} from './call.js';
import { type Effects, whereAsked } from './effects.js';
import { type CallLedger, createIdempotency, idempotencyKeyOf } from './ledger.js';
import { type AuditTrail, createAuditor, shownArguments, shownInput } from './presentation.js';
import type { RegisteredTool, ToolDependencies, ToolRegistry } from './tools.js';

/** Makes `invoke`, from a request to its outcome. Never rejects: every failure is an outcome, with one audit record. */
export function createInvoke(
  { access, provenance, random, redact, log, audit, clock }: ToolDependencies,
  registry: ToolRegistry,
  gate: Gate,
  effects: Effects,
  ledger: CallLedger,
  pass: (call: LiveCall, onDeferred: (note: string) => void) => Promise<SettledOutcome>,
  /** Notifies listeners of the call's end, and archives it. */
  finish: (call: SettledCall) => Promise<void>,
): Tools['invoke'] {
  const beginAudit = createAuditor({ clock, log, redact, audit });
  const once = createIdempotency(ledger, registry);

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

  /** Runs the checks of every call, and writes its first row. */
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
    const { alongside = [], messageId } = request;
    const asked = { id, tool: tool.info, input, argumentsHash, actor, at, people: [actor, ...alongside] };
    const considered = await effects.consider(asked);
    trail.note(considered.facts);
    if (considered.refusal !== undefined) return considered.refusal;
    const key = idempotencyKeyOf(request);
    await ledger.open({
      ...{ id, tool: name, plugin: tool.info.plugin, origin, argumentsHash, actor },
      // The stored arguments are for people: the tool gets those in memory, which the hash identifies.
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
      card: considered.card,
      policy: considered.facts.policy,
      messageId,
      mostCharacters: mostOf(request),
      onProgress: request.onProgress,
    };
    return createLiveCall(proposal, trail, ledger, log);
  }

  /** The place in which the call takes effect, and the actor there. */
  async function actorOf({ actor: asked }: ToolRequest, tool: RegisteredTool, input: Arguments, trail: AuditTrail) {
    const at = await effects.place({ tool: tool.info, input, actor: asked });
    if (at === undefined) return { at, actor: asked };
    const actor = await access.actorAt(asked, at);
    trail.note({ at, actor });
    return { at, actor };
  }

  /** The privacy of what a call will read, as far as it is known before the tool runs. */
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

/** Whether a tool does not exist for the requesting plugin, because it is internal to another one. */
const isHidden = ({ definition, owner }: RegisteredTool, origin: string) =>
  definition.internal === true && owner.id !== origin;

interface Answer {
  /** Why the call is refused; `undefined` when it is not. */
  readonly refusal?: SettledOutcome;
}
interface PlaceAnswer extends Answer {
  readonly policy: ToolPolicy | undefined;
}
interface PersonAnswer extends Answer {
  readonly reasons: readonly DecisionReason[];
}

/** The checks of a call before it is proposed; all of them run again directly before it executes. */
export function createGate(
  { access, states, enabledIn, guardsDown }: Pick<ToolDependencies, 'access' | 'states' | 'enabledIn' | 'guardsDown'>,
  /** Whether any interceptor in a guild can request a confirmation. */
  asks: (guildId: string | null) => boolean,
) {
  const guildPolicy = async (guildId: string | null, tool: string) => {
    if (guildId === null) return undefined;
    const { toolPolicies } = await states.load(guildId);
    return Object.hasOwn(toolPolicies, tool) ? toolPolicies[tool] : undefined;
  };

  /** The strictest of the guild's policy, of the place of the effect, and of the agent's grant; the tool's own policy when the guild has none. */
  const policyOf = async ({ info, definition }: RegisteredTool, actor: Actor, at: Place | undefined) => {
    const ofGuild = await guildPolicy((at ?? actor).guildId, info.name);
    const ofIdentity = actor.identity === undefined ? undefined : await access.modeOf(actor, info.name);
    return strictest([ofGuild ?? definition.policy, ofIdentity]);
  };

  const requestOf = ({ info }: RegisteredTool, at?: Place) => {
    const request = { kind: 'tool', name: info.name, plugin: info.plugin, policy: info.access } as const;
    return at === undefined ? request : { ...request, at };
  };

  /** Whether the tool is enabled, for models, not denied, and useful there. */
  const isOn = async (tool: RegisteredTool, actor: Actor): Promise<boolean> => {
    const { definition } = tool;
    if (definition.internal === true || !enabledIn(actor.guildId, tool.owner.plugin)) return false;
    if ((await policyOf(tool, actor, undefined)) === 'deny') return false;
    return isOffered(tool, actor);
  };

  /** Whether the plugin's own check considers a tool useful there. */
  const isOffered = async ({ definition }: RegisteredTool, actor: Actor): Promise<boolean> =>
    actor.identity !== undefined || (await definition.offered?.(actor)) !== false;

  /** The decision before the arguments are known, on which the place and the needed permissions of a tool with `place` depend: these are left out. */
  const decideWithoutArguments = (tool: RegisteredTool, actor: Actor): Promise<Decision> => {
    const { definition } = tool;
    if (definition.place === undefined) return access.decide(actor, requestOf(tool, whereAsked(definition, actor)));
    const request = requestOf(tool);
    const { member: _member, bot: _bot, ...policy } = request.policy;
    return access.decide(actor, { ...request, policy });
  };

  return {
    isOn,
    /** The checks of the place: plugin enabled, guards running, policy not `deny`. */
    async place(callId: string, tool: RegisteredTool, actor: Actor, at: Place | undefined): Promise<PlaceAnswer> {
      const { name } = tool.info;
      const { guildId } = at ?? actor;
      const policy = await policyOf(tool, actor, at);
      if (!enabledIn(guildId, tool.owner.plugin)) {
        return {
          policy,
          refusal: denied(callId, name, t('the plugin "{plugin}" is switched off here', { plugin: tool.info.plugin })),
        };
      }
      const [plugin] = guardsDown(guildId);
      if (plugin !== undefined) return { policy, refusal: failed(callId, 'CINNABAR_TOOL_GUARD_DOWN', { plugin }) };
      if (policy !== 'deny') return { policy };
      return { policy, refusal: denied(callId, name, t('the policy of this server forbids it')) };
    },
    /** The checks of the actor: `fresh` uses no cached data, for the moment of execution. */
    async person(
      callId: string,
      tool: RegisteredTool,
      actor: Actor,
      at: Place | undefined,
      knowledge: 'cached' | 'fresh',
    ): Promise<PersonAnswer> {
      const request = requestOf(tool, at);
      const decision = await (knowledge === 'fresh'
        ? access.decideFresh(actor, request)
        : access.decide(actor, request));
      const { reasons } = decision;
      if (decision.allowed) return { reasons };
      return { reasons, refusal: denied(callId, tool.info.name, refusalReasons(decision)) };
    },
    /** Whether a tool is offered to a model that acts for this person. */
    offers: async (tool: RegisteredTool, actor: Actor): Promise<boolean> =>
      (await isOn(tool, actor)) && (await decideWithoutArguments(tool, actor)).allowed,
    /** The checks `place`, `person` and `offers`, in words. */
    async explain(tool: RegisteredTool, actor: Actor): Promise<ExplainedTool> {
      const decision = await decideWithoutArguments(tool, actor);
      const [policy, ofGuild] = [
        await policyOf(tool, actor, undefined),
        await guildPolicy(actor.guildId, tool.info.name),
      ];
      const [guard] = guardsDown(actor.guildId);
      const { name } = tool.info;
      const reasons: readonly DecisionReason[] = [
        ...decision.reasons,
        ...(guard === undefined ? [] : [ofGuard(guard)]),
        ...(policy === undefined ? [] : [ofPolicy(policy, name, ofGuild === 'deny')]),
        ...(policy === 'confirm' && !asks(actor.guildId) ? [nothingAsks()] : []),
        ...(tool.definition.internal === true ? [ofInternal()] : []),
      ];
      const offer = (await isOffered(tool, actor)) ? {} : { notOffered: notOffered() };
      return { ...decision, ...offer, allowed: reasons.every(({ allowed }) => allowed), reasons };
    },
  };
}
export type Gate = ReturnType<typeof createGate>;

function ofPolicy(policy: ToolPolicy, tool: string, isOfGuild: boolean): DecisionReason {
  const rule = 'tool-policy';
  const text = t('the policy for this tool here is `{policy}`', { policy });
  if (policy !== 'deny') return { rule, allowed: true, text };
  const remedy = isOfGuild
    ? t('An admin switches it on with `tool enable {tool}`.', { tool })
    : t('An admin allows it with `tool policy {tool} allow`.', { tool });
  return { rule, allowed: false, text, remedy };
}

const ofGuard = (plugin: string): DecisionReason => ({
  rule: 'guard',
  allowed: false,
  text: t('the plugin "{plugin}", which guards the tools here, does not run', { plugin }),
  remedy: t(
    'The owner of the bot starts it with `plugin load {plugin}`; an admin does without it with `plugin disable {plugin}`.',
    { plugin },
  ),
});

const nothingAsks = (): DecisionReason => ({
  rule: 'confirmation',
  allowed: false,
  text: t('it needs confirmation, and nothing here can ask for it'),
  remedy: t(
    'An admin switches on what asks with `plugin enable confirm`; if it is on, the owner of the bot uses `plugin load confirm`.',
  ),
});

const ofInternal = (): DecisionReason => ({
  rule: 'internal',
  allowed: false,
  text: t('only its own plugin uses it'),
  remedy: t('None: it is no tool for members.'),
});

const notOffered = (): DecisionReason => ({
  rule: 'offered',
  allowed: false,
  text: t('its plugin does not offer it here at the moment'),
  remedy: t(
    'None here: its plugin needs something else first, such as a language model, or something for the tool to work on.',
  ),
});

function strictest(policies: readonly (ToolPolicy | undefined)[]): ToolPolicy | undefined {
  return (['deny', 'confirm', 'allow'] as const).find((policy) => policies.includes(policy));
}
