import type { Actor, Disposer, ListenerOptions, Logger } from '@cinnabar/sdk';
import {
  type Client,
  type ClientEvents,
  Collection,
  Guild,
  type Interaction,
  Message,
  MessageReaction,
  User,
} from 'discord.js';
import type {
  AccessService,
  Boundary,
  EnabledIn,
  Events,
  GuildState,
  GuildStates,
  Owner,
  OwnerChoices,
  OwnerState,
} from '../contracts.js';

type EventName = keyof ClientEvents;
interface Dependencies {
  readonly client: Client;
  readonly states: GuildStates;
  readonly enabledIn: EnabledIn;
  readonly ownerState: Pick<OwnerState, 'peek'>;
  readonly access: Pick<AccessService, 'mayIgnore' | 'ignores'>;
  readonly boundary: Boundary;
  readonly log: Logger;
  /** Handlers for messages and interactions that run before the listeners: commands and components. */
  readonly onMessage: (message: Message) => unknown;
  readonly onInteraction: (interaction: Interaction) => unknown;
  /** Resolves once no other process can receive the event: listeners are called after that. `undefined`: they are called at once. */
  readonly stored: (() => Promise<void>) | undefined;
  /** Called with the promise that an event waits for, when its guild's state has to be read first. */
  readonly waits: ((reading: Promise<unknown>) => void) | undefined;
  /** Receives interactions that arrive after `close`: their members wait for an answer. */
  readonly onLate: (interaction: Interaction) => unknown;
}

/** Builds the fan-out: one discord.js listener per event type, the checks, then the plugins' handlers in order of registration. */
export function createEvents({
  client,
  states,
  enabledIn,
  ownerState,
  access,
  boundary,
  log,
  onMessage,
  onInteraction,
  stored,
  waits,
  onLate,
}: Dependencies): Events {
  const listeners = new Map<EventName, readonly Listener[]>();
  const audience = createAudience(states, ownerState, enabledIn);

  const callListeners = (event: EventName, guildId: string | null, args: readonly unknown[], ignored: boolean) => {
    const registered = listeners.get(event);
    if (registered === undefined) return;
    let following = false;
    for (const { owner, label, call, hearsIgnored } of audience(event, guildId, registered)) {
      if ((ignored && !hearsIgnored) || boundary.suspended(owner.id, guildId)) continue;
      void boundary.run(owner, guildId, label, () => call(args), following);
      following = true;
    }
  };

  const fanOut: typeof callListeners =
    stored === undefined
      ? callListeners
      : (event, guildId, args, ignored) => {
          if (listeners.has(event)) void stored().then(() => callListeners(event, guildId, args, ignored));
        };

  const isIgnored = (event: EventName, guildId: string | null, args: readonly unknown[]) => {
    const actor = actorOf(event, guildId, args);
    return actor !== undefined && access.ignores(actor);
  };

  let closed = false;
  const dispatch = (event: EventName, args: readonly unknown[], first?: () => unknown) => {
    const guildId = guildIdOf(event, args);
    const go = () => {
      if (closed) return;
      // Runs commands and components also for ignored members: their access decision refuses them.
      first?.();
      const ignored = access.mayIgnore(guildId) && isIgnored(event, guildId, args);
      if (!(ignored instanceof Promise)) return fanOut(event, guildId, args, ignored);
      ignored
        .then((is) => fanOut(event, guildId, args, is))
        .catch((error: unknown) => log.error(`${event} was dropped`, { guildId, error }));
    };
    // The first events of a guild wait for the same read of its state, so their order is kept.
    if (guildId === null || states.peek(guildId) !== undefined) go();
    else {
      const reading = states
        .load(guildId)
        .then(go)
        .catch((error: unknown) => log.error(`${event} was dropped`, { guildId, error }));
      waits?.(reading);
    }
  };

  client.on('messageCreate', (message) => dispatch('messageCreate', [message], () => onMessage(message)));
  client.on('interactionCreate', (interaction) =>
    closed ? onLate(interaction) : dispatch('interactionCreate', [interaction], () => onInteraction(interaction)),
  );
  // One listener of the client runs all callbacks, since Node warns above ten listeners.
  const waitForReady = new Set<() => void>();
  client.once('clientReady', () => {
    for (const run of waitForReady) run();
    waitForReady.clear();
  });
  const attached = new Set<EventName>(['messageCreate', 'interactionCreate']);
  const attach = (event: EventName) => {
    if (attached.has(event)) return;
    attached.add(event);
    client.on(event, (...args: unknown[]) => dispatch(event, args));
  };

  const add = (event: EventName, listener: Listener): Disposer => {
    // Comes first, since a closed scope throws: nothing must be attached then.
    const dispose = listener.owner.scope.add(listener.label, () => {
      const left = (listeners.get(event) ?? []).filter((other) => other !== listener);
      if (left.length > 0) listeners.set(event, left);
      else listeners.delete(event);
    });
    attach(event);
    listeners.set(event, [...(listeners.get(event) ?? []), listener]);
    return dispose;
  };

  return {
    close() {
      closed = true;
    },
    listen: (owner, event, handler, { hearsIgnored = false } = {}) =>
      add(event, {
        owner,
        hearsIgnored,
        label: `listener ${event}`,
        // The map is keyed by event, so the arguments are this event's.
        call: (args) => handler(...(args as ClientEvents[typeof event])),
      }),
    ready(owner, handler) {
      const run = () => void boundary.run(owner, null, 'ready', handler);
      const dispose = owner.scope.add('ready handler', () => void waitForReady.delete(run));
      if (client.isReady()) queueMicrotask(run);
      else waitForReady.add(run);
      return dispose;
    },
  };
}

interface Listener extends Required<ListenerOptions> {
  readonly owner: Owner;
  readonly label: string;
  readonly call: (args: readonly unknown[]) => unknown;
}

type Listeners = readonly Listener[];

interface Known {
  readonly of: Listeners;
  /** The bot owner's choices, which include the plugins that are on by default. */
  readonly choices: OwnerChoices;
  readonly enabled: Listeners;
}

/**
 * Selects the listeners of an event whose plugins are enabled in a guild. Computed once for each state of the guild and each set of listeners, since the result
 * is needed for every message; it is freed together with the state.
 */
function createAudience(states: Pick<GuildStates, 'peek'>, ownerState: Pick<OwnerState, 'peek'>, enabledIn: EnabledIn) {
  const known = new WeakMap<GuildState, Map<keyof ClientEvents, Known>>();
  const enabledOf = (guildId: string | null, listeners: Listeners) =>
    listeners.filter(({ owner }) => enabledIn(guildId, owner.plugin));

  return (event: keyof ClientEvents, guildId: string | null, listeners: Listeners): Listeners => {
    const state = guildId === null ? undefined : states.peek(guildId);
    if (state === undefined) return enabledOf(guildId, listeners);
    let ofState = known.get(state);
    if (ofState === undefined) {
      ofState = new Map();
      known.set(state, ofState);
    }
    let found = ofState.get(event);
    const choices = ownerState.peek();
    if (found?.of !== listeners || found.choices !== choices) {
      found = { of: listeners, choices, enabled: enabledOf(guildId, listeners) };
      ofState.set(event, found);
    }
    return found.enabled;
  };
}

/** The user who caused an event; `undefined` for events that only report a change, and for the bot's own actions. */
function actorOf(event: EventName, guildId: string | null, [first, second]: readonly unknown[]): Actor | undefined {
  if (event === 'messageCreate' && first instanceof Message && first.author.id !== first.client.user?.id)
    return { userId: first.author.id, guildId, channelId: first.channelId };
  if (event === 'messageReactionAdd' && first instanceof MessageReaction && second instanceof User)
    return { userId: second.id, guildId, channelId: first.message.channelId };
  return undefined;
}

/** Events whose first argument does not contain the guild, and the argument that does. */
const GUILD_ARGUMENT: { readonly [K in keyof ClientEvents]?: number } = {
  messageDeleteBulk: 1,
  threadMembersUpdate: 2,
  presenceUpdate: 1,
  guildAuditLogEntryCreate: 1,
};

/** The guild that an event happened in; `null` for direct messages and for events of no guild. */
function guildIdOf(event: keyof ClientEvents, args: readonly unknown[]): string | null {
  return guildIdOfValue(args[GUILD_ARGUMENT[event] ?? 0]);
}

function guildIdOfValue(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  if (value instanceof Guild) return value.id;
  if (value instanceof Collection) return guildIdOfValue(value.first());
  if ('guildId' in value && typeof value.guildId === 'string') return value.guildId;
  if ('guild' in value) return guildIdOfValue(value.guild);
  if ('message' in value) return guildIdOfValue(value.message);
  return null;
}
