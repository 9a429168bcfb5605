import { join } from 'node:path';
import { type JournalDefinition, openJournal } from '@cinnabar/sdk';

/** Opens the queue of the relay in a separate file, in the layout of the host's file driver. */
export const queueFile =
  (folder: string) =>
  <T>({ schema, ...options }: JournalDefinition<T>) =>
    openJournal(join(folder, 'queue.jsonl'), schema, options);
