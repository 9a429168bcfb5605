import type { Plugins, SettingsCatalog, Suggest, Tools } from '@cinnabar/sdk';

const MAX_SUGGESTIONS = 25;

/** What is suggested in slash commands while a member types. */
export function suggestFrom(names: () => readonly string[]): Suggest {
  return (typed) => matching(names(), typed).map((name) => ({ name, value: name }));
}

export function pluginIds(plugins: Plugins): Suggest {
  return suggestFrom(() => plugins.list().map(({ id }) => id));
}

export function toolNames(tools: Tools): Suggest {
  return suggestFrom(() => tools.list().map(({ name }) => name));
}

/** Keys of every plugin's settings: Discord does not tell which plugin has been chosen. */
export function settingKeys(catalog: SettingsCatalog): Suggest {
  return async (typed, { guildId, userId }) => {
    const actor = { userId, guildId, channelId: '0' };
    const all = await Promise.all(catalog.plugins().map((plugin) => catalog.describe(plugin, actor)));
    return all
      .flat()
      .filter(({ key }) => key.toLowerCase().includes(typed.toLowerCase()))
      .slice(0, MAX_SUGGESTIONS)
      .map(({ key, plugin }) => ({ name: `${key} (${plugin})`, value: key }));
  };
}

function matching(names: readonly string[], typed: string): readonly string[] {
  return names.filter((name) => name.toLowerCase().includes(typed.toLowerCase())).slice(0, MAX_SUGGESTIONS);
}
