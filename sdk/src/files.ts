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
}
export const Files = defineToken<Files>('cinnabar.files');
