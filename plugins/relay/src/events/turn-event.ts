import { type Clock, type Logger, type Turn, withoutNotes } from '@cinnabar/sdk';
import type { EventKind, RelayEvent } from '../types.js';
import { authorFacts, placeFacts } from './facts.js';
import { messageEvent } from './message-event.js';

export interface TurnEventOptions {
  readonly agent: string;
  /** Whether it is the first message in a thread that the bot has started. */
  readonly opensThread: boolean;
  /** How many messages of the reply chain are read. */
  readonly depth: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What an agent is told of a turn; a slash command has no message to reply to. */
export async function turnEvent(
  turn: Turn,
  { agent, opensThread, depth, clock, log }: TurnEventOptions,
): Promise<RelayEvent> {
  const { message, trigger, actor, user, member, channel, guild, text } = turn;
  const kind = opensThread ? 'thread' : kindOf(turn);
  if (message !== null) {
    return messageEvent(message, { kind, agent, depth, log, ...(trigger === 'command' ? { said: text } : {}) });
  }
  return {
    id: `turn:${turn.id}`,
    kind,
    agent,
    guildId: actor.guildId,
    channelId: channel.id,
    userId: user.id,
    facts: {
      at: clock.now(),
      author: authorFacts(user, member),
      ...placeFacts(channel, guild),
      messageId: null,
      content: withoutNotes(text),
      chain: [],
      attachments: [],
    },
  };
}

/** `random` is what the own listeners hand in where every message is for the agent. */
function kindOf({ trigger, actor }: Turn): EventKind {
  if (actor.guildId === null) return 'dm';
  if (trigger === 'reply') return 'reply';
  return trigger === 'random' ? 'message' : 'mention';
}
