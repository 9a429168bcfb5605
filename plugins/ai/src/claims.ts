import type { FrontDoor } from '@cinnabar/sdk';
import type { Message } from 'discord.js';

/** Messages that answer something, and so are no turns. */
export interface Claims {
  readonly add: FrontDoor['claim'];
  holds(message: Message): boolean;
}

export function createClaims(): Claims {
  const claims = new Set<(message: Message) => boolean>();
  return {
    add(isMine) {
      claims.add(isMine);
      return () => void claims.delete(isMine);
    },
    holds: (message) => [...claims].some((isMine) => isMine(message)),
  };
}
