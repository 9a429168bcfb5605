import {
  CinnabarError,
  type PersonaAction,
  type PersonaActions,
  type PersonaChain,
  type PersonaContact,
  type PersonaRun,
  type Plugins,
  type ToolInfo,
  type z,
} from '@cinnabar/sdk';
import type { Line } from '../conversation/conversation-store.js';
import type { FindMember } from '../conversation/render.js';
import type { Memory, Place, ReflectionState, Visibility } from '../memory/types.js';
import type { Author } from '../state/persona-store.js';
import type { Audience, Origin } from '../state/state.js';

/** What the persona's own actions receive: the `PersonaRun` of plugin actions, and internal data. */
export interface TurnRun extends PersonaRun {
  readonly author: Author;
  readonly origin: Origin;
  /** The author of the answered message. */
  readonly speaker: PersonaContact | undefined;
  readonly botId: string;
  /** The persona's name. */
  readonly self: string;
  /** The conversation as it stands in the prompt; the model numbers its lines from 1. */
  readonly lines: readonly Line[];
  /** Names of the members who speak or are mentioned in the conversation, by id. */
  readonly names: ReadonlyMap<string, string>;
  /** Finds members who are not in the conversation. */
  readonly findMember: FindMember;
  /** The tools that are available for the requesting member. */
  readonly tools: readonly ToolInfo[];
  readonly memoryPlace: Place;
  /** The channel's readers, who decide which parts of the state may be used. */
  readonly audience: Audience;
  /** The audience of the conversation. */
  readonly visibility: Visibility;
  /** The state to reflect on; `undefined` when the run is not a reflection. */
  readonly reflection: ReflectionState | undefined;
  /** Records that the run used a memory. The run's trace is deleted with the memory, and with the data of its subject and speaker. */
  noteMemory(memory: Pick<Memory, 'id' | 'subject' | 'speaker'>): void;
  /** Records a tool call for the receipt. */
  noteCall(name: string, outcome: string): void;
  /** Posts a text in the channel. A posted text stays when the run fails later. */
  say(text: string): Promise<void>;
}

/** Which events an action emits: a pair of tool events, a text, or none because it ends the run. */
type ActionKind = 'tool' | 'thought' | 'speech' | 'end';

/** An action whose result type is erased: `prepare` checks the type. */
export interface Action {
  readonly name: string;
  readonly description: string;
  readonly contextNeeded: string;
  readonly result: z.ZodObject;
  readonly after: readonly string[];
  readonly parallel: boolean;
  readonly revealing: boolean;
  readonly kind: ActionKind;
  /** Whether the result may quote texts that not all readers may see; events then omit the result. */
  readonly quotes: boolean;
  isOffered(run: Pick<TurnRun, 'tools' | 'reflection'>): boolean;
  /** Validates a model's result; `undefined` when it does not fit the schema. */
  prepare(value: unknown): PreparedAction | undefined;
}

export interface PreparedAction {
  /** The text that the action would post; it is compared with earlier texts, to prevent repetition. */
  readonly words: string | undefined;
  execute(run: TurnRun): string | Promise<string>;
}

interface ActionDefinition<S extends z.ZodObject> extends Omit<PersonaAction<S>, 'execute'> {
  readonly kind?: ActionKind;
  readonly quotes?: boolean;
  isOffered?(run: Pick<TurnRun, 'tools' | 'reflection'>): boolean;
  words?(result: z.output<S>): string | undefined;
  execute(result: z.output<S>, run: TurnRun): string | Promise<string>;
}

export function defineAction<S extends z.ZodObject>(definition: ActionDefinition<S>): Action {
  const { name, description, contextNeeded, result } = definition;
  return {
    name,
    description,
    contextNeeded,
    result,
    after: definition.after ?? [],
    parallel: definition.parallel ?? false,
    revealing: definition.revealing ?? false,
    kind: definition.kind ?? 'tool',
    quotes: definition.quotes ?? false,
    isOffered: (run) => definition.isOffered?.(run) ?? true,
    prepare(value) {
      const parsed = result.safeParse(value);
      if (!parsed.success) return undefined;
      return {
        words: definition.words?.(parsed.data),
        execute: (run) => definition.execute(parsed.data, run),
      };
    },
  };
}

export type ActionRegistry = ReturnType<typeof createActionRegistry>;

interface Registered<T> {
  readonly plugin: string;
  readonly value: T;
}

const NAME = /^[A-Z][A-Z0-9_]{0,39}$/;
const OWN = 'persona';

/** All actions of personas: the built-in ones, and those that other plugins register. */
export function createActionRegistry(
  builtin: readonly Action[],
  builtinChains: readonly PersonaChain[],
  plugins: Pick<Plugins, 'enabledIn'>,
) {
  const actions = new Map<string, Registered<Action>>();
  const chains = new Map<string, Registered<PersonaChain>>();

  const add = <T>(to: Map<string, Registered<T>>, plugin: string, name: string, value: T) => {
    assertFree(name, actions.get(name) ?? chains.get(name));
    const registered = { plugin, value };
    to.set(name, registered);
    return async () => {
      if (to.get(name) === registered) to.delete(name);
    };
  };
  const enabled = <T>(of: Map<string, Registered<T>>, guildId: string | null): readonly T[] =>
    [...of.values()]
      .filter(({ plugin }) => plugin === OWN || plugins.enabledIn(guildId, plugin))
      .map(({ value }) => value);

  for (const action of builtin) add(actions, OWN, action.name, action);
  for (const chain of builtinChains) add(chains, OWN, chain.name, chain);
  const forPlugins: PersonaActions = {
    register: (plugin, action) => add(actions, plugin, action.name, defineAction(action)),
    chain: (plugin, chain) => add(chains, plugin, chain.name, chain),
  };
  return {
    ...forPlugins,
    /** Actions whose plugin is enabled in the guild, in order of registration. */
    actionsIn: (guildId: string | null) => enabled(actions, guildId),
    chainsIn: (guildId: string | null) => enabled(chains, guildId),
  };
}

function assertFree(name: string, existing: Registered<unknown> | undefined): void {
  if (!NAME.test(name)) {
    const detail = 'use upper case letters, digits and `_`, at most 40';
    throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'action', name, detail });
  }
  if (existing !== undefined) {
    throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'action', name, plugin: existing.plugin });
  }
}
