import type { z } from 'zod';
import type { Journal, JournalOptions } from './storage/journal.js';
import { defineToken } from './token.js';

/** Room for plugins' own files, for what does not fit into documents: caches, journals. */
export interface Files {
  /**
   * Makes the folder `name` below the host's data and resolves with its absolute path. By convention the name is the plugin's id;
   * whoever asks for the same name shares it.
   * @param name lower case letters, digits and `-`, at most 32
   * @throws CINNABAR_NAME_INVALID also for a folder of the host's own
   */
  folder(name: string): Promise<string>;
  /**
   * The same below the host's caches (`CACHE_PATH`): for what can be made or fetched again.
   * @throws CINNABAR_NAME_INVALID also for a folder of the host's own
   */
  cacheFolder(name: string): Promise<string>;
  /** `openJournal` for a file in such a folder: when the disk fails it, the owners of the bot hear why. */
  journal<T>(file: string, schema: z.ZodType<T>, options?: Omit<JournalOptions<T>, 'watch'>): Journal<T>;
}
export const Files = defineToken<Files>('cinnabar.files');
