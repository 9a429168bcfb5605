import type { Registrar, Turn } from '@cinnabar/sdk';

/** Which of the turns that have arrived are not to be answered any more, because their message was deleted. */
export interface Withdrawals {
  /** Watches a turn until `end`. */
  watch(turn: Turn): { end(): void };
  has(turn: Turn): boolean;
  /** Whether a turn of the same message is being watched: nothing is answered twice. */
  knows(turn: Turn): boolean;
}

export function createWithdrawals({ on }: Pick<Registrar, 'on'>): Withdrawals {
  const watched = new Set<string>();
  const deleted = new Set<string>();
  const withdraw = ({ id }: { readonly id: string }) => {
    if (watched.has(id)) deleted.add(id);
  };
  on('messageDelete', withdraw);
  on('messageDeleteBulk', (messages) => {
    for (const message of messages.values()) withdraw(message);
  });
  return {
    watch({ message, trigger }) {
      // Their commands are taken away as a matter of course.
      const isWatched = message !== null && trigger !== 'activate' && trigger !== 'continue';
      if (isWatched) watched.add(message.id);
      return {
        end() {
          if (!isWatched) return;
          watched.delete(message.id);
          deleted.delete(message.id);
        },
      };
    },
    knows: ({ message }) => message !== null && watched.has(message.id),
    has: ({ message }) => message !== null && deleted.has(message.id),
  };
}
