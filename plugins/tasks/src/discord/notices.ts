import { asNotice, type Clock, findSendable, isRefusal, type Logger, plainText, sendOnce } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Rules } from '../settings.js';
import { type Ending, keyOf, labelOf, linkTo, type Task } from '../task.js';
import { promptLine } from './wording.js';

/** What a member is notified of. */
export type Occasion = 'ended' | 'question' | 'approval';

export interface NoticeParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
}

const WORDS: Readonly<Record<Occasion, string>> = {
  ended: 'is over',
  question: 'has a question for you',
  approval: 'waits for your approval',
};

const OUTCOME: Readonly<Record<Ending['kind'], string>> = {
  complete: 'is complete',
  limit: 'has ended at a limit',
  stopped: 'was stopped',
  breaker: 'has ended without a result',
  failed: 'has failed',
  gone: 'has ended',
};
const LONGEST = 1_500;

/** Notifies the member of a task when it is over or waits for them, the way their server has set. */
export function createNotices({ client, clock, log, signal }: NoticeParts) {
  /** For members who take no direct messages: what the task has said there pinged nobody. */
  const ping = async ({ id, actor, workId }: Task, key: string, occasion: Occasion): Promise<void> => {
    try {
      const channel = await findSendable(client, workId ?? actor.channelId);
      if (channel === undefined) return;
      const content = asNotice(`🔔 <@${actor.userId}> Your task ${labelOf({ id })} ${WORDS[occasion]}.`);
      const message = { content, allowedMentions: { parse: [], users: [actor.userId] } };
      await sendOnce(channel, message, `${id}\n${key}\nping`, { clock, signal });
    } catch (error) {
      log.info('a member could not be notified of their task', { taskId: id, error });
    }
  };

  return {
    /** Sends a direct message where the server wants that, or pings the member in the thread if they take none. Never rejects. @param key names the notice within the task */
    async direct(task: Task, { notify }: Pick<Rules, 'notify'>, key: string, occasion: Occasion): Promise<void> {
      const { actor, id } = task;
      if (notify !== 'dm' || actor.guildId === null) return;
      const link = linkTo(task);
      const content = `🔔 Your task ${labelOf(task)} ${WORDS[occasion]}${link === undefined ? '' : `: ${link}`}\n> ${promptLine(task)}`;
      try {
        const direct = await client.users.createDM(actor.userId);
        const message = { content: asNotice(content), allowedMentions: { parse: [] } };
        await sendOnce(direct, message, `${id}\n${key}\ndirect`, { clock, signal });
      } catch (error) {
        const level = isRefusal(error) ? 'debug' : 'info';
        log[level]('a member could not be notified of their task by direct message', { taskId: id, error });
        if (isRefusal(error)) await ping(task, key, occasion);
      }
    },
    /**
     * Where another mind started the task: tells the conversation how it ended, which that mind reads like everybody else. Never rejects.
     * @param recognise it may have been said before the process was restarted
     */
    async elsewhere(task: Task, recognise: boolean): Promise<void> {
      const { actor, id, origin, ending, workId, requester } = task;
      if (origin !== 'tool' || ending === undefined || workId === actor.channelId) return;
      const text = `The task ${labelOf(task)} that I started for ${plainText(requester)} ${OUTCOME[ending.kind]}: ${ending.text}`;
      const content = text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… (all of it is in its thread)`;
      try {
        const channel = await findSendable(client, actor.channelId);
        if (channel === undefined) return;
        const once = { clock, signal, ...(recognise ? { sentAfter: task.statusId ?? '0' } : {}) };
        await sendOnce(
          channel,
          { content, allowedMentions: { parse: [] } },
          `${id}\n${keyOf(task, 'elsewhere')}`,
          once,
        );
      } catch (error) {
        log.info('the end of a task could not be told where it was started', { taskId: id, error });
      }
    },
  };
}

export type Notices = ReturnType<typeof createNotices>;
