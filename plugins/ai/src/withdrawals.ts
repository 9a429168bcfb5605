import { isDotMessage, linkSignals, type Registrar, type Turn, type TurnEnd, turnEndReason } from '@cinnabar/sdk';

/** Ends turns that a member wants no answer to any more: the signal of such a turn aborts, with why as its reason. */
export interface Withdrawals {
  /** Watches a turn until `end`. The turn that it hands back is the one to be answered. */
  watch(turn: Turn): { readonly turn: Turn; end(): void };
  /** Whether a turn of the same message is being watched: nothing is answered twice. */
  knows(turn: Turn): boolean;
  /** Whether one of the channel is being watched. */
  isAnswering(channelId: string): boolean;
  /** Stops those of a channel for which `isTheirs` holds. @returns how many those were, and how many there are */
  stop(channelId: string, isTheirs: (turn: Turn) => boolean): { readonly stopped: number; readonly found: number };
}

interface Watched {
  readonly turn: Turn;
  cancel(end: TurnEnd): void;
}

export function createWithdrawals({ on }: Pick<Registrar, 'on'>): Withdrawals {
  const watched = new Set<Watched>();
  const byQuestion = new Map<string, Watched>();
  const withdraw = ({ id }: { readonly id: string }) => byQuestion.get(id)?.cancel('withdrawn');
  on('messageDelete', withdraw);
  on('messageUpdate', (_old, message) => {
    if (isDotMessage(message.content)) withdraw(message);
  });
  on('messageDeleteBulk', (messages) => {
    for (const message of messages.values()) withdraw(message);
  });
  return {
    watch(arrived) {
      const controller = new AbortController();
      const linked = linkSignals(arrived.signal, controller.signal);
      const turn = { ...arrived, signal: linked.signal };
      const one = { turn, cancel: (end: TurnEnd) => controller.abort(turnEndReason(end)) };
      // Their commands are taken away as a matter of course.
      const isCommand = turn.trigger === 'activate' || turn.trigger === 'continue';
      const questionId = isCommand ? undefined : turn.message?.id;
      watched.add(one);
      if (questionId !== undefined) byQuestion.set(questionId, one);
      return {
        turn,
        end() {
          watched.delete(one);
          if (questionId !== undefined) byQuestion.delete(questionId);
          linked.release();
        },
      };
    },
    knows: ({ message }) => message !== null && byQuestion.has(message.id),
    isAnswering: (channelId) => [...watched].some(({ turn }) => turn.channel.id === channelId),
    stop(channelId, isTheirs) {
      const there = [...watched].filter(({ turn }) => turn.channel.id === channelId);
      const theirs = there.filter(({ turn }) => isTheirs(turn));
      for (const one of theirs) one.cancel('stopped');
      return { stopped: theirs.length, found: there.length };
    },
  };
}
