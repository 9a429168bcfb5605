import { join } from 'node:path';
import { type JournalDefinition, openJournal } from '@cinnabar/sdk';

/** Opens the queue of the relay in a file of its own, as the host's file driver lays it out. */
export const queueFile =
  (folder: string) =>
  <T>({ schema, ...options }: JournalDefinition<T>) =>
    openJournal(join(folder, 'queue.jsonl'), schema, options);
