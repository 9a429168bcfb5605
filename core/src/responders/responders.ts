import {
  CinnabarError,
  type Clock,
  createDeadline,
  type MessageDecision,
  type MessageDecisions,
  type ResponderDefinition,
  type ResponderInfo,
  type Turn,
} from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import type { Boundary, EnabledIn, Owner, ResponderService } from '../contracts.js';

interface Registered {
  readonly owner: Owner;
  readonly definition: ResponderDefinition;
}

/** The dependencies of the responder registry. */
interface ResponderServices {
  readonly enabledIn: EnabledIn;
  readonly boundary: Boundary;
  readonly clock: Clock;
  /** Resolves when no plugin is being loaded, unloaded or reloaded. */
  readonly pluginsIdle: () => Promise<void>;
}

/** How long a turn waits for a responder whose plugin may be reloading. */
const RETURN_WITHIN_MS = 5_000;
const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

/** Builds the registry of responders, to which `ai` routes turns. */
export function createResponders({ enabledIn, boundary, clock, pluginsIdle }: ResponderServices): ResponderService {
  const registered = new Map<string, Registered>();

  const usable = (guildId: string | null, entry: Registered) => enabledIn(guildId, entry.owner.plugin);
  const find = (name: string, { actor }: Pick<Turn, 'actor'>) => {
    const entry = registered.get(name);
    return entry !== undefined && usable(actor.guildId, entry) ? entry : undefined;
  };

  /**
   * Waits until no plugin is changing: during a reload the responder is missing. `false` when plugins were still changing after 5 s, or the turn was aborted.
   */
  const changesOver = async ({ signal }: Turn): Promise<boolean> => {
    const deadline = createDeadline(clock, RETURN_WITHIN_MS, [signal]);
    try {
      const ended = new Promise<false>((resolve) => {
        if (deadline.signal.aborted) resolve(false);
        else deadline.signal.addEventListener('abort', () => resolve(false), { once: true });
      });
      return await Promise.race([pluginsIdle().then(() => true), ended]);
    } finally {
      deadline.end();
    }
  };

  return {
    responder(owner, definition) {
      const { name } = definition;
      assertFree(registered.get(name), name);
      const entry = { owner, definition };
      const dispose = owner.scope.add(`responder ${name}`, () => {
        if (registered.get(name) === entry) registered.delete(name);
      });
      registered.set(name, entry);
      return dispose;
    },
    list: (guildId) =>
      [...registered.values()]
        .filter((entry) => usable(guildId, entry))
        .map(asInfo)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    async maxWaiting(name, turn) {
      const entry = find(name, turn);
      if (entry === undefined) return undefined;
      return boundary.track(entry.owner, async () => entry.definition.maxWaiting?.(turn));
    },
    async status(name, turn) {
      const entry = find(name, turn);
      if (entry === undefined) return undefined;
      return boundary.track(entry.owner, async () => entry.definition.status?.(turn));
    },
    async prompt(name, turn) {
      const entry = find(name, turn);
      if (entry === undefined) return undefined;
      entry.owner.entrusted?.give(turn.actor);
      return boundary.track(entry.owner, async () => entry.definition.prompt?.(turn));
    },
    async respond(name, turn) {
      let entry = find(name, turn);
      if (entry === undefined) {
        const isSettled = await changesOver(turn);
        entry = find(name, turn);
        if (entry === undefined && !isSettled) throw new CinnabarError('CINNABAR_RESPONDER_UPDATING', { name });
        if (entry === undefined) throw new CinnabarError('CINNABAR_RESPONDER_UNKNOWN', { name });
      }
      const { owner, definition } = entry;
      for (const { actor } of [turn, ...turn.earlier]) owner.entrusted?.give(actor);
      await boundary.track(owner, async () => definition.respond(turn));
    },
  };
}

function asInfo({ owner, definition }: Registered): ResponderInfo {
  return {
    name: definition.name,
    description: definition.description,
    plugin: owner.id,
    batches: definition.batches === true,
    ...(definition.typesItself === true ? { typesItself: true } : {}),
    ...(definition.queues === true ? { queues: true } : {}),
  };
}

function assertFree(existing: Registered | undefined, name: string): void {
  if (!NAME.test(name)) {
    throw new CinnabarError('CINNABAR_NAME_INVALID', {
      kind: 'responder',
      name,
      detail: 'use lower case letters, digits, `-` and `_`, at most 32',
    });
  }
  if (existing !== undefined) {
    throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'responder', name, plugin: existing.owner.id });
  }
}

const MESSAGES = 1_000;
const OF_ONE = 8;

/** Keeps the decisions about the latest messages in memory. */
export function createMessageDecisions(): MessageDecisions {
  const noted = new LRUCache<string, readonly MessageDecision[]>({ max: MESSAGES });
  return {
    note(messageId, decision) {
      noted.set(messageId, [...(noted.get(messageId) ?? []), decision].slice(-OF_ONE));
    },
    of: (messageId) => noted.get(messageId) ?? [],
  };
}
