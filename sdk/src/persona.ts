import type { z } from 'zod';
import type { Actor } from './access.js';
import type { Disposer } from './context.js';
import { defineToken } from './token.js';

interface TriggerBase {
  /** The event, in words; written by people or tools, so never to be trusted. */
  readonly content: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A person that a persona interacts with. */
export interface PersonaContact {
  readonly userId: string;
  /** Readable, different from the others' in the conversation, and free of markup. */
  readonly name: string;
}

/** Why a persona run starts. Only the first two kinds have a member on whose behalf a tool could be used. */
export type PersonaTrigger =
  | (TriggerBase & {
      readonly type: 'user_input';
      readonly speaker: PersonaContact;
      /** `null` when it came by slash command. */
      readonly messageId: string | null;
    })
  | (TriggerBase & {
      /** A tool call that had to wait has ended. */
      readonly type: 'tool_result';
      readonly speaker: PersonaContact;
      readonly tool: string;
      readonly callId: string;
      readonly status: 'done' | 'denied' | 'expired' | 'failed';
      readonly messageId: string | null;
    })
  | (TriggerBase & { readonly type: 'timer' })
  | (TriggerBase & { readonly type: 'self_reflection' })
  | (TriggerBase & {
      /** A member reacted to a message of the persona. */
      readonly type: 'reaction';
      readonly by: PersonaContact;
      readonly emoji: string;
      readonly messageId: string;
    })
  | (TriggerBase & { readonly type: 'member_joined'; readonly member: PersonaContact });

/** The channel of a persona. */
export interface PersonaPlace {
  /** `null` in a direct message. */
  readonly guildId: string | null;
  readonly channelId: string;
}

/** An action that was carried out in this run. */
export interface CompletedAction {
  readonly action: string;
  /** Its planned focus. */
  readonly context: string;
  /** Its result, in words. */
  readonly summary: string;
}

/** The run of which an action is part, with the parameters for the action. */
export interface PersonaRun {
  readonly sessionId: string;
  readonly trigger: PersonaTrigger;
  readonly place: PersonaPlace;
  /** The actions completed so far, oldest first. */
  readonly completed: readonly CompletedAction[];
  /** The focus of this action, as the planner wrote it. */
  readonly context: string;
  /** The requesting member; `undefined` when the persona acts without a request. */
  readonly actor: Actor | undefined;
  readonly signal: AbortSignal;
}

/** Something that a persona can do: its description, its inputs, the shape of its result, and its implementation. */
export interface PersonaAction<S extends z.ZodObject = z.ZodObject> {
  /** Its name in plans: `UPDATE_MOOD`. Upper case letters, digits and `_`, at most 40; unique. */
  readonly name: string;
  /** A description for the planner. */
  readonly description: string;
  /** The planner's statement about the situation. */
  readonly contextNeeded: string;
  /** The fields that a model fills in before it is carried out. Describe them. */
  readonly result: S;
  /** Actions which, when they are planned too, have to be completed first. */
  readonly after?: readonly string[];
  /** Whether it may be carried out concurrently with adjacent actions of the plan that also have this set. */
  readonly parallel?: boolean;
  /** Whether its result cannot be predicted: texts that the plan contains for later actions are then written again. */
  readonly revealing?: boolean;
  /** Returns the result, which only the persona reads. Throw `UserError` for a failure whose reason the persona should read. */
  execute(result: z.output<S>, run: PersonaRun): string | Promise<string>;
}

/** Several actions under one name, which a plan may contain as if it were an action: for common patterns. */
export interface PersonaChain {
  /** As an action's. */
  readonly name: string;
  readonly description: string;
  readonly actions: readonly string[];
}

/** Where other plugins add actions for personas. Provided by `persona`. */
export interface PersonaActions {
  /**
   * @param plugin id of the plugin that registers: where it is disabled, its actions do not exist
   * @returns a function that removes the action: pass it to `defer`
   * @throws CINNABAR_NAME_INVALID, CINNABAR_NAME_TAKEN
   * @example defer(actions.register('garden', { name: 'WATER_PLANTS', … }));
   */
  register<S extends z.ZodObject>(plugin: string, action: PersonaAction<S>): Disposer;
  /** Registers a chain; throws as `register`. Actions of the sequence that do not exist at the time of planning are left out. */
  chain(plugin: string, chain: PersonaChain): Disposer;
}
export const PersonaActions = defineToken<PersonaActions>('cinnabar.persona-actions');

interface EventBase extends PersonaPlace {
  /** The run that it is part of. */
  readonly sessionId: string;
  readonly at: number;
}

export const PERSONA_SYSTEM_EVENTS = [
  'started',
  'planned',
  'action_dropped',
  'action_failed',
  'repetition_stopped',
  'reworded',
  'extended',
  'bound_reached',
  'plan_refused',
  'silent',
  'stopped',
  'finished',
] as const;
export type PersonaSystemEvent = (typeof PERSONA_SYSTEM_EVENTS)[number];

/** The events of a run, in order. Each is sent after its effect has been written. */
export type PersonaEvent =
  | (EventBase & {
      readonly type: 'tool-started';
      /** Unique in the run; the `tool-finished` has the same. */
      readonly toolId: string;
      /** The action: `UPDATE_MOOD`. */
      readonly tool: string;
      readonly parameters: { readonly context: string };
    })
  | (EventBase & {
      readonly type: 'tool-finished';
      readonly toolId: string;
      readonly tool: string;
      readonly result: string;
      readonly failed: boolean;
    })
  /** A text of the persona or, with `isThought`, a thought: thoughts are not for the channel. */
  | (EventBase & { readonly type: 'text'; readonly content: string; readonly isThought: boolean })
  | (EventBase & {
      readonly type: 'system';
      readonly event: PersonaSystemEvent;
      readonly message: string;
      /** Why, in the persona's own words: not for the channel, like a thought. */
      readonly reasoning?: string | undefined;
    });

/** A persona's mood at one moment. */
export interface PersonaMood {
  readonly name: string;
  /** 0 (hardly felt) to 10. */
  readonly intensity: number;
}

/** The state of a persona. */
export interface PersonaState {
  readonly name: string;
  readonly description: string;
  readonly mood: PersonaMood;
  readonly appearance: string;
  readonly environment: string;
  readonly goals: readonly string[];
  readonly desires: readonly string[];
  /** Rises with every change. */
  readonly version: number;
}

/** Personas at work, for pages and other plugins. Provided by `persona`. */
export interface Personas {
  state(place: PersonaPlace): Promise<PersonaState>;
  /**
   * Calls `listener` with events as they happen: all, those of one guild, or of one channel. Errors of the listener are logged. Events contain thoughts and
   * people's messages: show them only to members who may read the channel.
   * @returns a function that stops this
   */
  subscribe(
    where: { readonly guildId?: string; readonly channelId?: string },
    listener: (event: PersonaEvent) => void,
  ): () => void;
  /** The events of the channel's latest runs, oldest first. */
  recent(channelId: string): Promise<readonly PersonaEvent[]>;
}
export const Personas = defineToken<Personas>('cinnabar.personas');
