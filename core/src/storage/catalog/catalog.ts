import {
  type Actor,
  CinnabarError,
  SETTING_SCOPES,
  type SettingAdvisor,
  type SettingInfo,
  type SettingScope,
  type SettingsCatalog,
  type Tier,
} from '@cinnabar/sdk';
import { ceilingOf } from '../documents/ceilings.js';
import type { AnySettings, OpenedPlugin } from '../open-plugin.js';
import { type Field, fieldsOf, shownValue } from './fields.js';
import { documentOf, type Located, locate, scopeNamed, shownKey } from './locate.js';
import { checkMayChange, mayChange } from './permission.js';
import { valueFrom } from './value.js';

/**
 * Settings by name and from text. A setting is described for the place where the actor is, the narrowest scope first; one that several scopes
 * have is listed for each, named `guild.style`. Scopes that have no value there (a guild's in a direct message) are left out.
 */
export function createCatalog(options: {
  readonly opened: ReadonlyMap<string, OpenedPlugin>;
  readonly tierOf: (actor: Actor) => Promise<Tier>;
  readonly hasRole: (guildId: string, roleId: string) => boolean;
  /** Ids of the server's channels that have a name. */
  readonly channelsCalled: (guildId: string, name: string) => readonly string[];
}): SettingsCatalog {
  const { opened, tierOf, hasRole, channelsCalled } = options;
  const advisors = new Map<string, SettingAdvisor>();

  const find = (id: string): OpenedPlugin => {
    const plugin = opened.get(id);
    if (plugin === undefined) throw new CinnabarError('CINNABAR_PLUGIN_UNKNOWN', { plugin: id });
    return plugin;
  };

  const infoOf = (
    plugin: OpenedPlugin,
    field: Field,
    values: Readonly<Record<string, unknown>>,
    most?: number,
  ): SettingInfo => ({
    plugin: plugin.plugin.manifest.id,
    key: shownKey(field, fieldsOf(plugin.plugin)),
    scope: field.scope,
    type: field.words,
    description:
      most === undefined ? field.description : `${field.description}. The owner of the bot allows at most ${most}`,
    default: shownValue(field, field.default),
    value: shownValue(field, values[field.key]),
    secret: field.secret,
  });

  const described = async (
    plugin: OpenedPlugin,
    scope: SettingScope,
    actor: Actor,
  ): Promise<readonly SettingInfo[]> => {
    const fields = fieldsOf(plugin.plugin).filter((field) => field.scope === scope);
    const place = documentOf(scope, actor);
    if (fields.length === 0 || (place === undefined && scope !== 'role')) return [];
    const values = place === undefined ? undefined : await plugin.document(scope, place.of).get();
    const ceilings = scope === 'guild' ? await plugin.ceilings(actor.guildId) : undefined;
    return fields.map((field) =>
      infoOf(plugin, field, values ?? { [field.key]: field.default }, ceilings && ceilingOf(field, ceilings)),
    );
  };

  /** @throws CINNABAR_ACCESS_DENIED or CINNABAR_SETTING_INVALID when it cannot be changed by this actor in this place */
  const writable = async (plugin: OpenedPlugin, { field, roleId }: Located, actor: Actor): Promise<AnySettings> => {
    await checkMayChange(field.scope, actor, tierOf);
    // Typed by hand: an admin's rights end at their own server's roles.
    if (roleId !== undefined && actor.guildId !== null && !hasRole(actor.guildId, roleId)) {
      throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: field.key, detail: 'this server has no such role.' });
    }
    const place = documentOf(field.scope, actor, roleId);
    if (place !== undefined) return plugin.document(field.scope, place.of);
    const detail =
      field.scope === 'role'
        ? `it is kept by role; say which, as in role.<role id>.${field.key}.`
        : 'it is kept by server; change it in one.';
    throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: field.key, detail });
  };

  /** `#general` as the mention that Discord makes of it where it is chosen from the list. */
  const mentioned = (field: Field, text: string, { guildId }: Actor): string => {
    const { type, key } = field;
    const name = text.trim().replace(/^#/, '').toLowerCase();
    if (guildId === null || type.kind !== 'mention' || type.of !== 'channel' || name === '') return text;
    const [id, ...others] = channelsCalled(guildId, name);
    if (others.length === 0) return id ?? text;
    const detail = `${others.length + 1} channels have that name; mention the one that you mean.`;
    throw new CinnabarError('CINNABAR_SETTING_INVALID', { key, detail });
  };

  /** The one scope that `reset` without a key means. */
  const scopeToReset = async (plugin: OpenedPlugin, actor: Actor): Promise<SettingScope> => {
    const tier = await tierOf(actor);
    const here = SETTING_SCOPES.filter(
      (scope) => plugin.plugin.settings[scope] !== undefined && documentOf(scope, actor) !== undefined,
    );
    const mine = here.filter((scope) => mayChange(scope, tier));
    const [only, another] = mine;
    if (only !== undefined && another === undefined) return only;
    if (only === undefined) {
      throw new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons: 'there is nothing here that you may reset.' });
    }
    const detail = `there are several kinds of settings; say ${mine.join(' or ')}.`;
    throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: 'reset', detail });
  };

  return {
    advise(id, advisor) {
      advisors.set(id, advisor);
      return () => {
        if (advisors.get(id) === advisor) advisors.delete(id);
      };
    },

    plugins: () =>
      [...opened.values()]
        .filter(({ plugin }) => fieldsOf(plugin).length > 0)
        .map(({ plugin }) => plugin.manifest.id)
        .sort(),

    async describe(id, actor) {
      const plugin = find(id);
      const narrowestFirst = [...SETTING_SCOPES].reverse();
      return (await Promise.all(narrowestFirst.map((scope) => described(plugin, scope, actor)))).flat();
    },

    async set(id, key, text, actor) {
      const plugin = find(id);
      const located = locate(id, fieldsOf(plugin.plugin), key);
      const document = await writable(plugin, located, actor);
      const { field } = located;
      const value = valueFrom(field, mentioned(field, text, actor), actor);
      const advisor = field.scope === 'guild' ? advisors.get(id) : undefined;
      const refusal = await advisor?.refusalOf(field.key, value, actor);
      if (refusal !== undefined)
        throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: field.key, detail: `${refusal}.` });
      const values = await document.set({ [field.key]: value });
      const inForce = await advisor?.inForce(field.key, actor);
      const info = infoOf(plugin, field, values);
      return inForce === undefined ? info : { ...info, inForce };
    },

    async reset(id, key, actor) {
      const plugin = find(id);
      const fields = fieldsOf(plugin.plugin);
      const named = key === undefined ? undefined : scopeNamed(key);
      const isScope = named !== undefined && plugin.plugin.settings[named] !== undefined;
      if (key === undefined || (isScope && !fields.some((field) => field.key === key))) {
        const scope = named ?? (await scopeToReset(plugin, actor));
        const [field] = fields.filter((one) => one.scope === scope);
        if (field !== undefined) await (await writable(plugin, { field, roleId: undefined }, actor)).reset();
        return;
      }
      const located = locate(id, fields, key);
      await (await writable(plugin, located, actor)).reset(located.field.key);
    },
  };
}
