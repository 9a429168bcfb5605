import type { Disposer, Logger } from '@cinnabar/sdk';
import type { Client, ClientEvents, Interaction, Message } from 'discord.js';
import type { Boundary, EnabledIn, Events, GuildStates } from '../contracts.js';
import { createAudience, type Listener } from './audience.js';
import { guildIdOf } from './guild-of.js';

type EventName = keyof ClientEvents;
interface Parts {
  readonly client: Client;
  readonly states: GuildStates;
  readonly enabledIn: EnabledIn;
  readonly boundary: Boundary;
  readonly log: Logger;
  /** Look at a message or interaction before the listeners do: commands and components. */
  readonly onMessage: (message: Message) => unknown;
  readonly onInteraction: (interaction: Interaction) => unknown;
  /** Gets the interactions that come after `close`: each is a person who waits for an answer. */
  readonly onLate: (interaction: Interaction) => unknown;
}

/** Builds the fan-out: one discord.js listener per event type, the checks, then the plugins' handlers in order of registration. */
export function createEvents({
  client,
  states,
  enabledIn,
  boundary,
  log,
  onMessage,
  onInteraction,
  onLate,
}: Parts): Events {
  const listeners = new Map<EventName, readonly Listener[]>();
  const audience = createAudience(states, enabledIn);

  const fanOut = (event: EventName, guildId: string | null, args: readonly unknown[]) => {
    const registered = listeners.get(event);
    if (registered === undefined) return;
    let following = false;
    for (const { owner, label, call } of audience(event, guildId, registered)) {
      if (boundary.suspended(owner.id, guildId)) continue;
      void boundary.run(owner, guildId, label, () => call(args), following);
      following = true;
    }
  };

  let closed = false;
  const dispatch = (event: EventName, args: readonly unknown[], first?: () => unknown) => {
    const guildId = guildIdOf(event, args);
    const go = () => {
      if (closed) return;
      first?.();
      fanOut(event, guildId, args);
    };
    // Only the first events of a guild wait, all behind the same read: their order is kept.
    if (guildId === null || states.peek(guildId) !== undefined) go();
    else
      states
        .load(guildId)
        .then(go)
        .catch((error: unknown) => log.error(`${event} was dropped`, { guildId, error }));
  };

  client.on('messageCreate', (message) => dispatch('messageCreate', [message], () => onMessage(message)));
  client.on('interactionCreate', (interaction) =>
    closed ? onLate(interaction) : dispatch('interactionCreate', [interaction], () => onInteraction(interaction)),
  );
  // One listener for all of them, as for every other event: Node warns of more than ten.
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
    // A scope that is closed refuses: then nothing may have been attached yet.
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
    listen: (owner, event, handler) =>
      add(event, {
        owner,
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
