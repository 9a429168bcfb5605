import type { Client } from 'discord.js';
import type { Journal } from '../journal/journal.js';
import type { Runs } from '../journal/runs.js';
import { isFinal } from '../model/status.js';
import type { Task } from '../model/task.js';
import type { Crew } from './crew.js';

interface Parts {
  readonly journal: Journal;
  readonly runs: Runs;
  readonly crew: Crew;
  readonly client: Client;
  /** Gets every task that there is, also those that are over. */
  readonly index: { add(task: Task): void };
}

/** Takes over what nobody carries out: after a restart all that was under way, later what another process has left behind. Only where this process is. */
export async function recover({ journal, runs, crew, client, index }: Parts): Promise<void> {
  await runs.beat();
  const isFree = await runs.free();
  for await (const found of journal.all()) {
    const { id, actor, status, ending } = found;
    index.add(found);
    if (journal.peek(id) !== undefined) continue;
    if (isFinal(status) && ending?.told !== false) continue;
    if (actor.guildId !== null && !client.guilds.cache.has(actor.guildId)) continue;
    const task = await journal.claim(id, isFree);
    if (task === undefined) continue;
    if (isFinal(task.status)) void crew.halt(id)();
    else if (task.status !== 'paused') crew.launch(id, true);
  }
}
