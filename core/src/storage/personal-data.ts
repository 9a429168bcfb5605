import type { SettingScope } from '@cinnabar/sdk';
import { type Personal, personalOf } from './documents/layout.js';
import { storedIn, type Vault } from './documents/vault.js';

/** Members' right to see and to remove what is kept about them, by what is stored: also of plugins that are not running. */
export interface StoredPersonalData {
  /** `{ party: { collections: { rosters: … }, settings: { user: …, member: { <guildId>: … } } } }` */
  exportUser(userId: string): Promise<Readonly<Record<string, unknown>>>;
  /** Removes the documents with all their copies. Returns how many documents. @throws CINNABAR_STORAGE_WRITE */
  forgetUser(userId: string): Promise<number>;
}

export function createPersonalData(options: {
  readonly vault: Vault;
  /** Takes secrets out of settings, as far as the plugin is known. */
  readonly withoutSecrets: (plugin: string, scope: SettingScope, data: unknown) => unknown;
}): StoredPersonalData {
  const { vault, withoutSecrets } = options;

  const find = async (userId: string) =>
    (await vault.list([])).flatMap((path) => {
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
        const stored = storedIn(await vault.load(path));
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
      for (const { path } of documents) await vault.erase(path);
      return documents.length;
    },
  };
}

/** A user's one document, or a member's among those of the other guilds. */
function within(others: unknown, guildId: string | undefined, data: unknown): unknown {
  if (guildId === undefined) return data;
  return { ...(typeof others === 'object' ? others : {}), [guildId]: data };
}
