import type { PersonaAction, PersonaContact, PersonaRun, ToolInfo, z } from '@cinnabar/sdk';
import type { FindMember } from '../conversation/members.js';
import type { Line } from '../conversation/schema.js';
import type { Memory, Place, ReflectionState, Visibility } from '../memory/types.js';
import type { Audience } from '../state/goals.js';
import type { Author } from '../state/persona-store.js';
import type { Origin } from '../state/schema.js';

/** What the persona's own actions know beside what every action knows. */
export interface TurnRun extends PersonaRun {
  readonly author: Author;
  readonly origin: Origin;
  /** Whose words are answered. */
  readonly speaker: PersonaContact | undefined;
  readonly botId: string;
  /** What the persona is called. */
  readonly self: string;
  /** The conversation as the model was shown it: its numbers count from 1. */
  readonly lines: readonly Line[];
  /** Those who speak or are mentioned in the conversation, by id. */
  readonly names: ReadonlyMap<string, string>;
  /** For those who are not in the conversation. */
  readonly findMember: FindMember;
  /** What may be used for whoever asked. */
  readonly tools: readonly ToolInfo[];
  readonly memoryPlace: Place;
  /** Decides what of the state may be known there. */
  readonly audience: Audience;
  /** Who may know what is said here. */
  readonly visibility: Visibility;
  /** What to reflect on; `undefined` when the run is not for that. */
  readonly reflection: ReflectionState | undefined;
  /** The run speaks of a memory: its trace goes with that, and with the data of those whom it is about and by. */
  noteMemory(memory: Pick<Memory, 'id' | 'subject' | 'speaker'>): void;
  /** Says something in the channel, once and for all. */
  say(text: string): Promise<void>;
}

/** Which events an action emits: a pair of tool events, a text, or none because it ends the run. */
type ActionKind = 'tool' | 'thought' | 'speech' | 'end';

/** An action with its result's type checked and then hidden. */
export interface Action {
  readonly name: string;
  readonly description: string;
  readonly contextNeeded: string;
  readonly result: z.ZodObject;
  readonly after: readonly string[];
  readonly parallel: boolean;
  readonly revealing: boolean;
  readonly kind: ActionKind;
  /** Its result may quote what not everyone may read: events say only that there is one. */
  readonly quotes: boolean;
  isOffered(run: Pick<TurnRun, 'tools' | 'reflection'>): boolean;
  /** Takes a result from a model; `undefined` when it does not fit. */
  prepare(value: unknown): PreparedAction | undefined;
}

export interface PreparedAction {
  /** What it is going to say aloud. */
  readonly words: string | undefined;
  execute(run: TurnRun): string | Promise<string>;
}

interface ActionDefinition<S extends z.ZodObject> extends Omit<PersonaAction<S>, 'execute'> {
  readonly kind?: ActionKind;
  readonly quotes?: boolean;
  isOffered?(run: Pick<TurnRun, 'tools' | 'reflection'>): boolean;
  words?(result: z.output<S>): string;
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
