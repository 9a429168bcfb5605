import type { ResponderDefinition, ResponderInfo } from '@cinnabar/sdk';
import { CinnabarError } from '@cinnabar/sdk';
import type { Boundary, EnabledIn, Owner, ResponderRoom } from '../contracts.js';

interface Registered {
  readonly owner: Owner;
  readonly definition: ResponderDefinition;
}

/** What the room of responders is built from. */
export interface ResponderRoomParts {
  readonly enabledIn: EnabledIn;
  readonly boundary: Boundary;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

/** Builds the registry of responders: the minds that `ai` can route a turn to. */
export function createResponders({ enabledIn, boundary }: ResponderRoomParts): ResponderRoom {
  const registered = new Map<string, Registered>();

  const usable = (guildId: string | null, entry: Registered) => enabledIn(guildId, entry.owner.plugin);

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
      const entry = registered.get(name);
      if (entry === undefined || !usable(turn.actor.guildId, entry)) return undefined;
      return boundary.track(entry.owner, async () => entry.definition.maxWaiting?.(turn));
    },
    async respond(name, turn) {
      const entry = registered.get(name);
      if (entry === undefined || !usable(turn.actor.guildId, entry)) {
        throw new CinnabarError('CINNABAR_RESPONDER_UNKNOWN', { name });
      }
      await boundary.track(entry.owner, async () => entry.definition.respond(turn));
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
