import type { Clock } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Task } from '../model/task.js';
import { channelOf } from './channels.js';

/** Discord shows it for 10 s. */
const TYPING_MS = 8_000;

/** Shows that the bot is at work where a task works. @returns ends it */
export type ShowTyping = (task: Pick<Task, 'workId' | 'actor'>) => () => void;

export function createTyping({ client, clock }: { readonly client: Client; readonly clock: Clock }): ShowTyping {
  return ({ workId, actor }) => {
    let cancel = () => {};
    let over = false;
    const show = async () => {
      const channel = await channelOf(client, workId ?? actor.channelId).catch(() => undefined);
      if (over || channel === undefined) return;
      // The indicator is a courtesy: the task works without it.
      await channel.sendTyping().catch(() => undefined);
      if (!over) cancel = clock.after(TYPING_MS, () => void show());
    };
    void show();
    return () => {
      over = true;
      cancel();
    };
  };
}
