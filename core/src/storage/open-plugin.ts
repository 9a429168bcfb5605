import {
  CinnabarError,
  type HasId,
  type MemberKey,
  type Plugin,
  SETTING_SCOPES,
  type SettingScope,
  type SettingsDocument,
  type z,
} from '@cinnabar/sdk';
import type { Ceilings, CeilingsRoom } from '../config/ceilings.js';
import type { PluginStorage } from '../contracts.js';
import { fieldsOf } from './catalog/fields.js';
import { belowCeilings } from './documents/ceilings.js';
import { openCollection } from './documents/collection.js';
import { collectionPath, settingsPath } from './documents/layout.js';
import { keyFor } from './documents/path-names.js';
import { openSettings, unknownSetting } from './documents/settings.js';
import { invalid } from './documents/shape.js';
import type { Vault } from './documents/vault.js';

export type Presets = Readonly<Record<string, unknown>>;
export type AnySettings = SettingsDocument<Record<string, unknown>>;

/** A plugin's storage as its present version declares it. */
export interface OpenedPlugin {
  readonly plugin: Plugin;
  readonly storage: PluginStorage;
  /** The settings document of a scope the plugin has; `of` is needed but for the global one. */
  readonly document: (scope: SettingScope, of?: HasId | MemberKey) => AnySettings;
  /** What the owner allows admins of a server at most. */
  readonly ceilings: (guildId: string | null) => Promise<Ceilings>;
}

/**
 * @throws CINNABAR_PLUGIN_INVALID when a setting has neither a default nor is optional
 * @throws CINNABAR_CONFIG_INVALID when a preset is not a setting's, or not right for it
 */
export function openPlugin(
  vault: Vault,
  plugin: Plugin,
  presets: Presets,
  presetPlace: (key: string) => string,
  ceilings: CeilingsRoom,
): OpenedPlugin {
  const { id } = plugin.manifest;
  checkDefaults(plugin);
  checkPresets(plugin, presets, presetPlace);

  const ofGuild = fieldsOf(plugin).filter(({ scope }) => scope === 'guild');
  const numbers = ofGuild.filter(({ type }) => type.kind === 'number');
  ceilings.declare(
    id,
    numbers.map(({ key }) => key),
  );
  const scopes = new Map<SettingScope, (of?: Of) => AnySettings>();
  for (const scope of SETTING_SCOPES) {
    const schema = plugin.settings[scope];
    if (schema === undefined) continue;
    const open = openSettings(vault, schema, scope === 'global' ? { plugin: id, presets } : { plugin: id });
    scopes.set(scope, (of) => {
      const key = of === undefined || of === null ? undefined : keyFor(scope, of);
      if (scope !== 'guild') return open(settingsPath(id, scope, key));
      const stored = key === undefined ? defaultsOf(schema) : open(settingsPath(id, scope, key));
      return belowCeilings(stored, ofGuild, () => ceilings.of(id, key ?? null));
    });
  }
  const document = (scope: SettingScope, of?: HasId | MemberKey): AnySettings => {
    const open = scopes.get(scope);
    if (open === undefined) throw unknownSetting(id, scope, [...scopes.keys()]);
    return open(of);
  };

  return {
    plugin,
    document,
    ceilings: (guildId) => ceilings.of(id, guildId),
    storage: {
      settings: Object.fromEntries(
        [...scopes].map(([scope, open]) => [scope, scope === 'global' ? open() : (of: Of) => open(of)]),
      ),
      collections: Object.fromEntries(
        Object.entries(plugin.collections).map(([name, definition]) => [
          name,
          openCollection(vault, definition, collectionPath(id, definition.scope, name)),
        ]),
      ),
    },
  };
}

type Of = HasId | MemberKey | null;

/** What holds in direct messages: there no server could have set anything. */
function defaultsOf(schema: z.ZodObject): AnySettings {
  const refuse = async () => {
    throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: 'settings', detail: 'it is kept by server.' });
  };
  return { get: async () => schema.parse({}), set: refuse, update: refuse, reset: refuse };
}

function checkDefaults(plugin: Plugin): void {
  for (const scope of SETTING_SCOPES) {
    const parsed = plugin.settings[scope]?.safeParse({});
    if (parsed === undefined || parsed.success) continue;
    const key = invalid(parsed.error).key ?? 'settings';
    throw new CinnabarError('CINNABAR_PLUGIN_INVALID', {
      place: plugin.manifest.id,
      detail: `its ${scope} setting "${key}" needs a default or has to be optional`,
    });
  }
}

function checkPresets(plugin: Plugin, presets: Presets, placeOf: (key: string) => string): void {
  const { id } = plugin.manifest;
  const schema = plugin.settings.global;
  const keys = Object.keys(schema?.shape ?? {});
  const unknown = Object.keys(presets).find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    const detail = `${placeOf(unknown)}: ${unknownSetting(id, unknown, keys).message}`;
    throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail });
  }
  const parsed = schema?.safeParse(presets);
  if (parsed === undefined || parsed.success) return;
  const { key = '', message } = invalid(parsed.error);
  // The place names the key already.
  const detail = `${placeOf(key)}${message.startsWith(key) ? message.slice(key.length) : `: ${message}`}`;
  throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail });
}
