import {
  type Actor,
  type CallCard,
  CinnabarError,
  type DecisionReason,
  linkSignals,
  type Place,
  type SettledOutcome,
  type ToolDefinition,
  type ToolInfo,
  type ToolPolicy,
  type ToolProgress,
  t,
} from '@cinnabar/sdk';
import { type Arguments, denied, doneOutcome, failed, readArguments, thrownOutcome } from './call.js';
import type { Gate } from './invoke.js';
import { renderCard } from './presentation.js';
import type { RegisteredTool, ToolDependencies, ToolRegistry } from './tools.js';

/** A call before it is in the ledger, in plain data that can be sent to another process. */
export interface AskedCall {
  readonly id: string;
  readonly tool: Pick<ToolInfo, 'name' | 'plugin' | 'risk'>;
  readonly input: Arguments;
  readonly argumentsHash: string;
  readonly actor: Actor;
  /** The place of the effect, if it is not that of the actor. */
  readonly at: Place | undefined;
  /** All actors who must be allowed to make the call. */
  readonly people: readonly Actor[];
}

/** A call that is about to run. */
export interface DueCall extends AskedCall {
  readonly isDecided: boolean;
  /** The guild whose process runs the call; `null`: the process of data without a guild. */
  readonly runsIn: string | null;
  readonly key: string;
  readonly mostCharacters: number;
}

/** The facts about a call that the audit records. */
interface Facts {
  readonly facts: { readonly access?: readonly DecisionReason[]; readonly policy?: ToolPolicy | undefined };
}
type Refused = Facts & { readonly refusal: SettledOutcome };
export type Verdict = Refused | (Facts & { readonly refusal?: undefined });
export type Considered = Refused | (Facts & { readonly refusal?: undefined; readonly card: CallCard });

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}

/** The part of a call that needs the caches of the guild in which it takes effect. The process of the caller keeps its ledger entry and its confirmation. */
export interface Effects {
  /** The place of the effect; `undefined`: that of the request. @throws CINNABAR_TOOL_FAILED when the tool returns no place; the tool's own errors */
  place(call: Pick<AskedCall, 'tool' | 'input' | 'actor'>): Promise<Place | undefined>;
  /** Whether a call may be proposed, and its card. */
  consider(call: AskedCall): Promise<Considered>;
  /** Whether a call may still run, by data that are not from a cache. */
  recheck(call: DueCall): Promise<Verdict>;
  /** Runs a call. Never rejects. */
  run(call: DueCall, options: RunOptions): Promise<{ readonly outcome: SettledOutcome; readonly ranMs?: number }>;
}

const stopped = () => t('its plugin is not running any more, so it was not run');
const changed = () => t('it has changed since it was asked for, so it was not run; please ask again');
export const cancelled = () => t('it was cancelled before it ran');

/** The effects of calls in the guilds that this host serves. */
export function createEffects(
  { boundary, clock, log, redact }: Pick<ToolDependencies, 'boundary' | 'clock' | 'log' | 'redact'>,
  registry: Pick<ToolRegistry, 'get'>,
  gate: Gate,
): Effects {
  /** The requested tool; or the outcome when it is stopped, or is not the same tool any more. */
  const find = async (call: AskedCall): Promise<RegisteredTool | SettledOutcome> => {
    const tool = registry.get(call.tool.name);
    if (tool === undefined) return failure(call, stopped());
    return tool.info === call.tool || (await isSameTool(tool, call)) ? tool : failure(call, changed());
  };

  /** @param knowledge `fresh` uses no cached data, for the moment of execution */
  const verdictOnPeople = async (
    { id, people, at }: AskedCall,
    tool: RegisteredTool,
    knowledge: 'cached' | 'fresh',
  ): Promise<Verdict> => {
    let facts: Facts['facts'] = {};
    for (const one of people) {
      const { reasons: access, refusal } = await gate.person(id, tool, one, at, knowledge);
      facts = { access };
      if (refusal !== undefined) return { facts, refusal };
    }
    return { facts };
  };

  return {
    async place({ tool: { name }, input, actor }) {
      const tool = registry.get(name);
      return tool === undefined ? undefined : targetOf(tool, input, actor);
    },
    async consider(call) {
      const { id, input, actor, at } = call;
      const tool = await find(call);
      if ('status' in tool) return { facts: {}, refusal: tool };
      // Comes before the place's own checks, since an actor who cannot reach the place must not learn its rules.
      const people = await verdictOnPeople(call, tool, 'cached');
      if (people.refusal !== undefined) return people;
      const { policy, refusal } = await gate.place(id, tool, actor, at);
      const facts = { ...people.facts, policy };
      if (refusal !== undefined) return { facts, refusal };
      try {
        await tool.definition.check?.(input, { actor });
      } catch (error) {
        return { facts, refusal: thrownOutcome(id, tool.info.name, error, log) };
      }
      return { facts, card: await renderCard(tool.info, tool.definition, input, actor, redact) };
    },
    async recheck(call) {
      const { id, tool: asked, input, actor, at, isDecided } = call;
      const tool = await find(call);
      if ('status' in tool) return { facts: {}, refusal: tool };
      // The tool must still name the place for which the decision was made.
      if (!isSamePlace(await targetOf(tool, input, actor), at)) return { facts: {}, refusal: failure(call, changed()) };
      const { policy, ...place } = await gate.place(id, tool, actor, at);
      if (place.refusal !== undefined) return { facts: { policy }, refusal: place.refusal };
      const people = await verdictOnPeople(call, tool, 'fresh');
      const facts = { ...people.facts, policy };
      if (people.refusal !== undefined) return { facts, refusal: people.refusal };
      if (policy !== 'confirm' || isDecided) return { facts };
      return { facts, refusal: denied(id, asked.name, t('it needs confirmation, and nothing here can ask for it')) };
    },
    async run(call, { signal: asked, onProgress }) {
      const { id, key, input, actor, mostCharacters } = call;
      const tool = await find(call);
      if ('status' in tool) return { outcome: tool };
      if (asked.aborted) return { outcome: failure(call, cancelled()) };
      const { owner, definition } = tool;
      const { signal, release } = linkSignals(asked, owner.scope.signal);
      const started = clock.now();
      const ended = (outcome: SettledOutcome) => ({ outcome, ranMs: clock.now() - started });
      try {
        const progress = (sign: ToolProgress) => onProgress?.(sign);
        const callContext = { callId: id, key, log: owner.log.child({ callId: id }), progress };
        owner.entrusted?.give(actor);
        const output = await boundary.track(owner, async () =>
          definition.run(input, { ...callContext, actor, signal, mostCharacters }),
        );
        return ended(doneOutcome(tool, call, output));
      } catch (error) {
        return ended(thrownOutcome(id, tool.info.name, error, owner.log));
      } finally {
        release();
      }
    },
  };
}

const failure = ({ id, tool }: AskedCall, detail: string): SettledOutcome =>
  failed(id, 'CINNABAR_TOOL_FAILED', { tool: tool.name, detail });

/** Whether a reloaded tool, or that of another process, is the one that was requested and decided on. */
async function isSameTool({ info, definition }: RegisteredTool, call: AskedCall): Promise<boolean> {
  if (info.plugin !== call.tool.plugin || info.risk !== call.tool.risk) return false;
  const read = await readArguments(definition.input, call.input);
  return read.ok && read.hash === call.argumentsHash;
}

async function targetOf(
  { definition, info }: RegisteredTool,
  input: Arguments,
  actor: Actor,
): Promise<Place | undefined> {
  if (definition.place === undefined) return whereAsked(definition, actor);
  // Checked at run time, since a plugin may be in JavaScript: a missing place must not count as the place of the request.
  const place: Partial<Place> | undefined = await definition.place(input);
  if (place?.guildId !== undefined) return { ...place, guildId: place.guildId };
  throw new CinnabarError('CINNABAR_TOOL_FAILED', {
    tool: info.name,
    detail: t('it did not say where it takes effect'),
  });
}

/**
 * The place of a call of a tool without `place`; `undefined`: that of the request, without a check of the grant. For an agent it is checked unless the tool
 * only reads, because the channel that shows an agent's requests may not be one of its granted channels. A tool that reads checks itself what the actor may
 * see.
 */
export function whereAsked({ risk }: ToolDefinition, { identity, guildId, channelId }: Actor): Place | undefined {
  return identity === undefined || risk === 'read' ? undefined : { guildId, channelId };
}

function isSamePlace(one: Place | undefined, other: Place | undefined): boolean {
  return one?.guildId === other?.guildId && one?.channelId === other?.channelId;
}
