import type { SettingScope } from '@cinnabar/sdk';
import { type DocumentStore, storedIn } from './documents/document-store.js';
import { type Personal, personalOf } from './driver.js';

/** Members' right to see and to remove what is kept about them, by what is stored: also of plugins that are not running. */
export interface StoredPersonalData {
  /** `{ party: { collections: { rosters: … }, settings: { user: …, member: { <guildId>: … } } } }` */
  exportUser(userId: string): Promise<Readonly<Record<string, unknown>>>;
  /** Removes the documents with all their copies. Returns how many documents. @throws CINNABAR_STORAGE_WRITE */
  forgetUser(userId: string): Promise<number>;
}

export function createPersonalData(options: {
  readonly store: DocumentStore;
  /** Takes secrets out of settings, as far as the plugin is known. */
  readonly withoutSecrets: (plugin: string, scope: SettingScope, data: unknown) => unknown;
}): StoredPersonalData {
  const { store, withoutSecrets } = options;

  const find = async (userId: string) =>
    (await store.list([])).flatMap((path) => {
      const personal = personalOf(path, userId);
      return personal === undefined ? [] : [{ path, personal }];
    });

  const shown = ({ plugin, kind, guildId }: Personal, data: unknown): unknown =>
    kind === 'collections'
      ? structuredClone(data)
      : withoutSecrets(plugin, guildId === undefined ? 'user' : 'member', data);

  return {
    async exportUser(userId) {
      const found: Record<string, Record<string, Record<string, unknown>>> = {};
      for (const { path, personal } of await find(userId)) {
        const stored = storedIn(await store.load(path));
        if (stored === undefined) continue;
        const data = shown(personal, stored.data);
        const plugin = found[personal.plugin] ?? {};
        const kind = plugin[personal.kind] ?? {};
        const { name, guildId } = personal;
        found[personal.plugin] = { ...plugin, [personal.kind]: { ...kind, [name]: within(kind[name], guildId, data) } };
      }
      return found;
    },
    async forgetUser(userId) {
      const documents = await find(userId);
      for (const { path } of documents) await store.erase(path);
      return documents.length;
    },
  };
}

/** A user's one document, or a member's among those of the other guilds. */
function within(others: unknown, guildId: string | undefined, data: unknown): unknown {
  if (guildId === undefined) return data;
  return { ...(typeof others === 'object' ? others : {}), [guildId]: data };
}
