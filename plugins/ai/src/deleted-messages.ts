import { isDotMessage, linkSignals, type Turn, type TurnEnd, turnEndReason } from '@cinnabar/sdk';
import type { AiContext } from './context.js';

interface Watched {
  readonly turn: Turn;
  cancel(end: TurnEnd): void;
}

export type DeletedMessages = ReturnType<typeof createDeletedMessages>;

/** Aborts the signal of a turn whose message was deleted or made a dot message, or that a member stopped; the reason says which. */
export function createDeletedMessages({ on }: AiContext) {
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
    /** Watches a turn until `end`. The turn that it returns is the one to answer. */
    watch(arrived: Turn) {
      const controller = new AbortController();
      const linked = linkSignals(arrived.signal, controller.signal);
      const turn = { ...arrived, signal: linked.signal };
      const one = { turn, cancel: (end: TurnEnd) => controller.abort(turnEndReason(end)) };
      // The messages of these commands are always deleted.
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
    /** Whether a turn of the same message is being watched: a message is answered once. */
    knows: ({ message }: Turn) => message !== null && byQuestion.has(message.id),
    /** Whether a turn of the channel is being watched. */
    isAnswering: (channelId: string) => [...watched].some(({ turn }) => turn.channel.id === channelId),
    /** Stops the turns of a channel for which `isTheirs` holds. @returns how many those were, and how many there are */
    stop(channelId: string, isTheirs: (turn: Turn) => boolean) {
      const there = [...watched].filter(({ turn }) => turn.channel.id === channelId);
      const theirs = there.filter(({ turn }) => isTheirs(turn));
      for (const one of theirs) one.cancel('stopped');
      return { stopped: theirs.length, found: there.length };
    },
  };
}
