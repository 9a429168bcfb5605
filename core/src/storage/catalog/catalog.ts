import {
  type Actor,
  CinnabarError,
  createKeyedMutex,
  type HasId,
  type MemberKey,
  SETTING_SCOPES,
  type SettingAdvisor,
  type SettingChangeOptions,
  type SettingInfo,
  type SettingMention,
  type SettingScope,
  type SettingType,
  TIERS,
  type Tier,
  t,
  translated,
  whereSettingHolds,
} from '@cinnabar/sdk';
import type { CatalogService } from '../../contracts.js';
import type { AnySettings } from '../documents/settings.js';
import { ceilingOf, unknownSetting } from '../documents/settings.js';
import { didYouMean } from '../nearest.js';
import type { OpenedPlugin } from '../storage.js';
import { eitherOf, type Field, fieldsOf, shownValue } from './fields.js';
import { valueFrom } from './value.js';

/**
 * Lists, sets and resets settings by name, with values as text. Settings are described for the actor's place, the narrowest scope first; one that exists in
 * several scopes is listed for each, as `guild.style`. Scopes without a value there (a guild's in a direct message) are left out.
 */
export function createCatalog(options: {
  readonly opened: ReadonlyMap<string, OpenedPlugin>;
  readonly tierOf: (actor: Actor) => Promise<Tier>;
  readonly hasRole: (guildId: string, roleId: string) => boolean;
  /** Ids of a named object in the server; the name in lower case. */
  readonly called: (guildId: string, of: SettingMention, name: string) => readonly string[];
  /** Whether a channel or role is known to belong to another place than the server. */
  readonly isElsewhere: (guildId: string, kind: 'channel' | 'role', id: string) => Promise<boolean>;
}): CatalogService {
  const { opened, tierOf, hasRole, called, isElsewhere } = options;
  const advisors = new Map<string, SettingAdvisor>();
  /** Prevents other changes of a document between reading a value and changing it. */
  const changes = createKeyedMutex();

  const find = (id: string): OpenedPlugin => {
    const plugin = opened.get(id);
    if (plugin === undefined)
      throw new CinnabarError('CINNABAR_PLUGIN_UNKNOWN', { plugin: id, hint: didYouMean(id, [...opened.keys()]) });
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
    type: field.words(),
    control: field.type,
    description:
      most === undefined
        ? field.description
        : t('{description}. The owner of the bot allows at most {most}', {
            description: translated(field.description),
            most,
          }),
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
    // The id may have been typed, and an admin may only change settings for roles of their own server.
    if (roleId !== undefined && actor.guildId !== null && !hasRole(actor.guildId, roleId)) {
      throw new CinnabarError('CINNABAR_SETTING_INVALID', {
        key: field.key,
        detail: `${t('this server has no such role')}.`,
      });
    }
    const place = documentOf(field.scope, actor, roleId);
    if (place !== undefined) return plugin.document(field.scope, place.of);
    const detail =
      field.scope === 'role'
        ? t('it is kept by role; say which, as in role.<role id>.{key}.', { key: field.key })
        : t('it is kept by server; change it in one.');
    throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: field.key, detail });
  };

  /** Changes one setting, unless its value differs from `expected`, which the author of the change saw. @throws CINNABAR_SETTING_CHANGED */
  const unlessChanged = <T>(
    document: AnySettings,
    { field: { key, scope }, field, roleId }: Located,
    plugin: OpenedPlugin,
    actor: Actor,
    expected: SettingChangeOptions['expected'],
    change: () => Promise<T>,
  ): Promise<T> =>
    changes.run(
      JSON.stringify([plugin.plugin.manifest.id, scope, documentOf(scope, actor, roleId)?.of ?? null]),
      async () => {
        if (expected !== undefined) {
          const now = shownValue(field, (await document.get())[key]);
          if (JSON.stringify(now) !== JSON.stringify(expected.value))
            throw new CinnabarError('CINNABAR_SETTING_CHANGED', { key });
        }
        return change();
      },
    );

  /** Why a value that the schema accepts cannot be saved, as a clause: it has a channel or role of another server, or the plugin's own check refuses it. */
  const refusalOf = async (
    plugin: OpenedPlugin,
    { scope, key, type }: Field,
    value: unknown,
    actor: Actor,
  ): Promise<string | undefined> => {
    const { guildId } = actor;
    if (guildId !== null && scope !== 'global' && scope !== 'user')
      for (const { kind, id } of namedIn(type, value))
        if (await isElsewhere(guildId, kind, id))
          return kind === 'channel' ? t('this server has no such channel') : t('this server has no such role');
    return scope === 'guild' ? advisors.get(plugin.plugin.manifest.id)?.refusalOf(key, value, actor) : undefined;
  };

  /** The scope for `reset` without a key: the only one that the actor may change here. @throws CINNABAR_ACCESS_DENIED, CINNABAR_SETTING_INVALID */
  const scopeToReset = async (plugin: OpenedPlugin, actor: Actor): Promise<SettingScope> => {
    const tier = await tierOf(actor);
    const here = SETTING_SCOPES.filter(
      (scope) => plugin.plugin.settings[scope] !== undefined && documentOf(scope, actor) !== undefined,
    );
    const mine = here.filter((scope) => mayChange(scope, tier));
    const [only, another] = mine;
    if (only !== undefined && another === undefined) return only;
    if (only === undefined) {
      throw new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons: t('there is nothing here that you may reset.') });
    }
    const detail = t('there are several kinds of settings; say {scopes}.', { scopes: eitherOf(mine) });
    throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: 'reset', detail });
  };

  /** Makes a predicate for the settings that the actor may change here. */
  const openTo = async (actor: Actor): Promise<(field: Field) => boolean> => {
    const tier = await tierOf(actor);
    return ({ scope }) => mayChange(scope, tier) && (scope === 'role' || documentOf(scope, actor) !== undefined);
  };

  /** The target of `reset`: one setting, or a whole scope. @throws the errors of `writable` */
  const toReset = async (id: string, key: string | undefined, actor: Actor) => {
    const plugin = find(id);
    const fields = fieldsOf(plugin.plugin);
    const named = key === undefined ? undefined : scopeNamed(key);
    const isScope = named !== undefined && plugin.plugin.settings[named] !== undefined;
    const isWhole = key === undefined || (isScope && !fields.some((field) => field.key === key));
    if (!isWhole) {
      const located = locate(id, fields, key, await openTo(actor));
      const { field, roleId } = located;
      const document = await writable(plugin, located, actor);
      return { plugin, document, located, field, scope: field.scope, of: documentOf(field.scope, actor, roleId)?.of };
    }
    const scope = named ?? (await scopeToReset(plugin, actor));
    const [field] = fields.filter((one) => one.scope === scope);
    if (field === undefined) throw unknownSetting(id, key ?? scope, [...new Set(fields.map((one) => one.key))]);
    const document = await writable(plugin, { field, roleId: undefined }, actor);
    return { plugin, document, scope, of: documentOf(scope, actor)?.of };
  };

  return {
    advise(id, advisor) {
      advisors.set(id, advisor);
      return () => {
        if (advisors.get(id) === advisor) advisors.delete(id);
      };
    },

    async refusalOf(id, key, value, actor) {
      const plugin = find(id);
      const field = fieldsOf(plugin.plugin).find((one) => one.scope === 'guild' && one.key === key);
      return field === undefined ? undefined : refusalOf(plugin, field, value, actor);
    },

    plugins: () =>
      [...opened.values()]
        .filter(({ plugin }) => fieldsOf(plugin).length > 0)
        .map(({ plugin }) => plugin.manifest.id)
        .sort(),

    mayBeSecret(id, key) {
      try {
        return locate(id, fieldsOf(find(id).plugin), key, () => false).field.secret;
      } catch {
        return true;
      }
    },

    async describe(id, actor) {
      const plugin = find(id);
      const narrowestFirst = [...SETTING_SCOPES].reverse();
      return (await Promise.all(narrowestFirst.map((scope) => described(plugin, scope, actor)))).flat();
    },

    async set(id, key, text, actor, { expected, privately = actor.guildId === null } = {}) {
      const plugin = find(id);
      const located = locate(id, fieldsOf(plugin.plugin), key, await openTo(actor));
      const document = await writable(plugin, located, actor);
      const { field } = located;
      const { guildId } = actor;
      const value = valueFrom(field, text, privately, (of, name) =>
        guildId === null ? undefined : called(guildId, of, name),
      );
      const advisor = field.scope === 'guild' ? advisors.get(id) : undefined;
      const refusal = await refusalOf(plugin, field, value, actor);
      if (refusal !== undefined)
        throw new CinnabarError('CINNABAR_SETTING_INVALID', { key: field.key, detail: `${refusal}.` });
      const values = await unlessChanged(document, located, plugin, actor, expected, () =>
        document.set({ [field.key]: value }),
      );
      const inForce = await advisor?.inForce(field.key, actor);
      const info = infoOf(plugin, field, values);
      return inForce === undefined ? info : { ...info, inForce };
    },

    async stored(id, key, actor) {
      const { plugin, scope, of, field } = await toReset(id, key, actor);
      const [names, values] = await Promise.all([plugin.stored.names(scope, of), plugin.document(scope, of).get()]);
      return fieldsOf(plugin.plugin)
        .filter((one) => one.scope === scope && names.includes(one.key) && (field === undefined || one === field))
        .map((one) => infoOf(plugin, one, values));
    },

    async reset(id, key, actor, { expected } = {}) {
      const { plugin, document, located } = await toReset(id, key, actor);
      if (located === undefined) return document.reset();
      await unlessChanged(document, located, plugin, actor, expected, () => document.reset(located.field.key));
    },
  };
}

/** A setting that was found by its name. */
interface Located {
  readonly field: Field;
  /** The role, for settings by role. */
  readonly roleId: string | undefined;
}

/** The channels and roles that a value names. */
function namedIn(
  type: SettingType,
  value: unknown,
): readonly { readonly kind: 'channel' | 'role'; readonly id: string }[] {
  switch (type.kind) {
    case 'mention':
      return typeof value === 'string' && (type.of === 'channel' || type.of === 'role')
        ? [{ kind: type.of, id: value }]
        : [];
    case 'list':
      return Array.isArray(value) ? value.flatMap((item) => namedIn(type.of, item)) : [];
    case 'either':
      return type.of.flatMap((one) => namedIn(one, value));
    default:
      return [];
  }
}

/** The document of a scope for an actor's place; `undefined` when the scope has none there. */
function documentOf(
  scope: SettingScope,
  actor: Actor,
  roleId?: string,
): { readonly of?: HasId | MemberKey } | undefined {
  switch (scope) {
    case 'global':
      return {};
    case 'guild':
      return actor.guildId === null ? undefined : { of: actor.guildId };
    case 'channel':
      return { of: actor.channelId };
    case 'role':
      return roleId === undefined ? undefined : { of: roleId };
    case 'user':
      return { of: actor.userId };
    case 'member':
      return actor.guildId === null ? undefined : { of: { guildId: actor.guildId, userId: actor.userId } };
  }
}

/** The name of a setting: its key, with the scope in front when several scopes have that key. */
function shownKey(field: Field, fields: readonly Field[]): string {
  return fields.filter(({ key }) => key === field.key).length > 1 ? `${field.scope}.${field.key}` : field.key;
}

function scopeNamed(text: string): SettingScope | undefined {
  return SETTING_SCOPES.find((scope) => scope === text.toLowerCase());
}

/**
 * Finds a setting by name: `style`, `guild.style`, `role.<id or mention>.style`; case is ignored where the name stays unique. Of several with the name, the one
 * that the actor may change is used.
 * @throws CINNABAR_SETTING_UNKNOWN with the nearest name
 * @throws CINNABAR_SETTING_INVALID when several settings have that name
 */
function locate(plugin: string, fields: readonly Field[], named: string, isOpen: (field: Field) => boolean): Located {
  const key = named.trim();
  const plain = matching(fields, key);
  if (plain.length > 0) return { field: oneOf(plain, fields, key, isOpen), roleId: undefined };

  const [head = '', ...rest] = key.split('.');
  const scope = scopeNamed(head);
  const role = scope === 'role' ? /^(?:<@&)?(\d{1,20})>?\.(.+)$/.exec(rest.join('.')) : null;
  const inScope = fields.filter((field) => field.scope === scope);
  const found = matching(inScope, role?.[2] ?? rest.join('.'));
  const [field] = found;
  if (field !== undefined)
    return { field: found.length === 1 ? field : oneOf(found, fields, key, isOpen), roleId: role?.[1] };

  throw unknownSetting(plugin, key, [...new Set(fields.map((one) => shownKey(one, fields)))]);
}

function matching(fields: readonly Field[], key: string): readonly Field[] {
  const exact = fields.filter((field) => field.key === key);
  return exact.length > 0 ? exact : fields.filter((field) => field.key.toLowerCase() === key.toLowerCase());
}

function oneOf(
  found: readonly Field[],
  fields: readonly Field[],
  key: string,
  isOpen: (field: Field) => boolean,
): Field {
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const open = found.filter(isOpen);
  const [only, another] = open;
  if (only !== undefined && another === undefined) return only;
  const names = eitherOf(
    (open.length === 0 ? found : open).map(
      (field) => `\`${shownKey(field, fields)}\` (${whereSettingHolds(field.scope)})`,
    ),
  );
  throw new CinnabarError('CINNABAR_SETTING_INVALID', {
    key,
    detail: t('there are several of that name; write {names} instead.', { names }),
  });
}

/** The lowest tier that may change settings of a scope; `undefined`: all members may change their own. */
const NEEDED: Readonly<Record<SettingScope, 'admin' | 'botOwner' | undefined>> = {
  global: 'botOwner',
  guild: 'admin',
  channel: 'admin',
  role: 'admin',
  user: undefined,
  member: undefined,
};

function mayChange(scope: SettingScope, tier: Tier): boolean {
  const needed = NEEDED[scope];
  return needed === undefined || TIERS.indexOf(tier) >= TIERS.indexOf(needed);
}

/** @throws CINNABAR_ACCESS_DENIED that names who may change settings of the scope */
async function checkMayChange(
  scope: SettingScope,
  actor: Actor,
  tierOf: (actor: Actor) => Promise<Tier>,
): Promise<void> {
  const needed = NEEDED[scope];
  if (needed === undefined || mayChange(scope, await tierOf(actor))) return;
  const reasons = t(
    'only {who, select, admin {an admin} other {the bot owner}} may change settings {scope, select, global {of all servers} guild {of this server} channel {of a channel} other {of a role}}.',
    { who: needed, scope },
  );
  throw new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons });
}
