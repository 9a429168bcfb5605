import {
  type Actor,
  type AskFirst,
  CinnabarError,
  type CommandContext,
  createAskFirst,
  option,
  requireGuildId,
  type SettingInfo,
  type SettingScope,
  type SettingsCatalog,
  type Suggest,
  subcommand,
  TIERS,
  type Tier,
  t,
  translated,
  UserError,
  whereSettingHolds,
  z,
} from '@cinnabar/sdk';
import type { AdminContext } from './context.js';
import { code, codes, MAX_SUGGESTIONS, readablePrefix, shownSetting, suggestFrom } from './format.js';

const RESET_WORD = 'reset';

/** `!set <plugin> [key] [value]` and `!unset <plugin> [key]`, also written `!set reset <plugin> [key]`. */
export function registerSettingsCommands(context: AdminContext): void {
  const { command, component, services } = context;
  const { catalog } = services;
  const { clock, random } = services;
  const askFirst = createAskFirst({ component, clock, random, name: 'settings-reset' });
  const reset = (ctx: CommandContext, plugin: string, key: string | undefined) =>
    resetSettings(services, askFirst, ctx, plugin, key);
  const plugin = option.suggested(suggestFrom(catalog.plugins)).describe('Id of the plugin');
  const key = option.suggested(settingKeys(catalog)).optional().describe('Which setting');

  command({
    name: 'set',
    audited: true,
    reads: ({ plugin, value }) => value === undefined && plugin !== RESET_WORD,
    description: 'See and change settings',
    help: 'Without a value it shows the settings, with their types and defaults. A list is typed with commas or blanks between its items, or as JSON in [ ]. `set reset <plugin> [key]` goes back to the default.',
    options: {
      plugin: plugin.optional(),
      key,
      value: option.rest().optional().describe('The new value'),
    },
    examples: ['set chat', 'set chat history 80', 'set reset chat history'],
    withheld: ({ plugin = '', key = '' }) =>
      plugin !== RESET_WORD && catalog.mayBeSecret(String(plugin), String(key)) ? ['value'] : [],
    async run(ctx, { plugin, key, value }) {
      if (plugin === undefined) return ctx.reply(await overview(services, ctx));
      if (!catalog.plugins().includes(plugin) && plugin !== RESET_WORD) await suggestInstead(services, ctx, plugin);
      if (plugin === RESET_WORD && key !== undefined) return reset(ctx, key, value);
      if (key === undefined) return showAll(services, ctx, plugin);
      return value === undefined ? showOne(services, ctx, plugin, key) : change(services, ctx, plugin, key, value);
    },
  });
  command({
    name: 'unset',
    audited: true,
    description: 'Put a setting, or all of a plugin, back to the default',
    options: { plugin, key },
    examples: ['unset chat history', 'unset chat'],
    run: (ctx, { plugin, key }) => reset(ctx, plugin, key),
  });
}

/** Suggests the matching command to users of Red, who type `set prefix`. @throws UserError that names the command, when there is one */
async function suggestInstead(
  { commands }: AdminContext['services'],
  ctx: CommandContext,
  typed: string,
): Promise<void> {
  const [meant] = commands.similar(`set ${typed.toLowerCase()}`, await commands.visibleTo(ctx.actor));
  if (meant === undefined) return;
  throw new UserError(
    t('No plugin with settings is called {typed}. Did you mean {meant}?', { typed: code(typed), meant: code(meant) }),
  );
}

/** The plugins with settings that a member may change. */
async function changeablePlugins(
  { access, catalog }: Pick<AdminContext['services'], 'access' | 'catalog'>,
  actor: Actor,
): Promise<readonly string[]> {
  const tier = await access.tierOf(actor);
  const found: string[] = [];
  for (const plugin of catalog.plugins())
    if (changeableBy(tier, await catalog.describe(plugin, actor)).length > 0) found.push(plugin);
  return found;
}

async function overview(services: AdminContext['services'], ctx: CommandContext): Promise<string> {
  return t('These plugins have settings: {plugins}. {command} shows those of one.', {
    plugins: codes(await changeablePlugins(services, ctx.actor)),
    command: code(`${readablePrefix(ctx)}set <plugin>`),
  });
}

async function showAll(services: AdminContext['services'], ctx: CommandContext, plugin: string): Promise<unknown> {
  return ctx.reply(listOfSettings(plugin, await changeable(services, ctx, plugin)));
}

async function showOne(services: AdminContext['services'], ctx: CommandContext, plugin: string, key: string) {
  const settings = await changeable(services, ctx, plugin);
  const found = settings.filter((info) => info.key === key || info.key.endsWith(`.${key}`));
  if (found.length === 0) throw unknownKey(plugin, key, settings);
  return ctx.reply(found.map(settingLine).join('\n'));
}

async function change({ catalog }: AdminContext['services'], ctx: CommandContext, ...what: [string, string, string]) {
  const [plugin, key, value] = what;
  return ctx.reply(changedText(await catalog.set(plugin, key, value, ctx.actor)));
}

/** Changes one setting immediately, and shows its previous value; several only after the caller has confirmed the list. */
async function resetSettings(
  services: AdminContext['services'],
  askFirst: AskFirst,
  ctx: CommandContext,
  plugin: string,
  key: string | undefined,
): Promise<unknown> {
  const { audit, catalog } = services;
  const { actor } = ctx;
  const name = code(plugin);
  const set = await catalog.stored(plugin, key, actor);
  const [only] = set;
  if (only === undefined) {
    return ctx.reply(
      t('Nothing of {plugin} is set {key, select, none {here} other {under {key}}}: it is as it comes.', {
        plugin: name,
        key: key === undefined ? 'none' : code(key),
      }),
    );
  }
  if (key !== undefined && set.length === 1 && namesSame(only.key, key)) {
    await catalog.reset(plugin, key, actor);
    return ctx.reply(
      t('{key} of {plugin} is back to the default, {default}. It was {before} {place}.', {
        key: code(only.key),
        plugin: name,
        default: shownSetting(only, only.default),
        before: shownSetting(only, only.value),
        place: whereSettingHolds(only.scope),
      }),
    );
  }
  return askFirst(ctx, {
    content: [
      t('This takes {count, plural, one {# setting} other {# settings}} of {plugin} back to the default:', {
        count: set.length,
        plugin: name,
      }),
      ...set.map(valueLine),
    ].join('\n'),
    yes: t('Take them back'),
    async run() {
      // Reads the current values, since another admin may have changed one.
      const before = await catalog.stored(plugin, key, actor);
      await catalog.reset(plugin, key, actor);
      const act = ['unset', plugin, ...(key === undefined ? [] : [key])].join(' ');
      audit.record({ actor, act: `${act} (agreed)`, outcome: 'done' });
      const done = t('The settings of {plugin} are back to the default.', { plugin: name });
      const list = [done, t('They were:'), ...before.map(valueLine)].join('\n');
      return list.length > LONGEST_LIST ? done : list;
    },
  });
}

/** Whether the typed text is a setting's key, with or without its scope or a role, in any case. */
function namesSame(key: string, typed: string): boolean {
  const last = (name: string) => name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return last(key) === last(typed);
}

/** A longer list does not fit into the answer: the values of the reset settings are then left out. */
const LONGEST_LIST = 1_900;

const valueLine = (setting: SettingInfo) =>
  `• \`${setting.key}\` = ${shownSetting(setting, setting.value)} ${whereSettingHolds(setting.scope)}`;

async function changeable(
  services: AdminContext['services'],
  ctx: CommandContext,
  plugin: string,
): Promise<readonly SettingInfo[]> {
  const { access, catalog, commands } = services;
  const { actor } = ctx;
  const ids = catalog.plugins();
  if (!ids.includes(plugin)) {
    const sentence = t('There is no plugin with settings called {name}.', { name: code(plugin) });
    const [meant] = commands.similar(
      plugin,
      ids.map((name) => ({ name })),
    );
    throw new UserError(
      `${sentence} ${meant === undefined ? await overview(services, ctx) : t('Did you mean {near}?', { near: code(meant) })}`,
    );
  }
  return changeableBy(await access.tierOf(actor), await catalog.describe(plugin, actor));
}

function unknownKey(plugin: string, key: string, settings: readonly SettingInfo[]): CinnabarError {
  const hint =
    settings.length === 0 ? '' : ` ${t('It has {keys}.', { keys: codes(settings.map((info) => info.key)) })}`;
  return new CinnabarError('CINNABAR_SETTING_UNKNOWN', { plugin, key, hint });
}

const CHANGED_BY: Readonly<Record<SettingScope, Tier>> = {
  global: 'botOwner',
  guild: 'admin',
  channel: 'admin',
  role: 'admin',
  user: 'everyone',
  member: 'everyone',
};

/** The settings that the tier may change. */
export function changeableBy(tier: Tier, settings: readonly SettingInfo[]): readonly SettingInfo[] {
  return settings.filter(({ scope }) => TIERS.indexOf(tier) >= TIERS.indexOf(CHANGED_BY[scope]));
}

function listOfSettings(plugin: string, settings: readonly SettingInfo[]): string {
  if (settings.length === 0) return t('{plugin} has no settings that you may change here.', { plugin: code(plugin) });
  const isSet = ({ value, default: byDefault }: SettingInfo) => JSON.stringify(value) !== JSON.stringify(byDefault);
  const changed = settings.filter(isSet);
  const others = settings.filter((info) => !isSet(info));
  return [
    t('**Settings of {plugin}**', { plugin }),
    ...section(t('Set'), changed),
    ...section(changed.length === 0 ? undefined : t('As they come'), others),
  ].join('\n');
}

function section(title: string | undefined, settings: readonly SettingInfo[]): readonly string[] {
  if (settings.length === 0) return [];
  const lines = settings.map((info) => `• ${settingLine(info)}`);
  return title === undefined ? lines : [`__${title}__`, ...lines];
}

/** A setting in one line: "`style` = `plain` for this server. Card style. One of plain, cyberpunk, terminal; default `plain`." */
function settingLine(setting: SettingInfo): string {
  const { key, value, scope, description, type, default: byDefault } = setting;
  const about = description === '' ? '' : ` ${sentence(translated(description))}`;
  const kind = sentence(t('{type}; default {value}', { type: capital(type), value: shownSetting(setting, byDefault) }));
  return `\`${key}\` = ${shownSetting(setting, value)} ${whereSettingHolds(scope)}.${about} ${kind}`;
}

/** The answer to a change. */
export function changedText(setting: SettingInfo): string {
  const { key, plugin, value, scope, inForce } = setting;
  const words = { key, plugin: code(plugin), value: shownSetting(setting, value), place: whereSettingHolds(scope) };
  if (inForce !== undefined && JSON.stringify(inForce.value) !== JSON.stringify(value))
    return t('`{key}` of {plugin} is saved as {value} {place}, but here {held} holds: {origin} decides.', {
      ...words,
      held: shownSetting(setting, inForce.value),
      origin: translated(inForce.origin),
    });
  return t('`{key}` of {plugin} is {value} {place} now.', words);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Suggests the keys of all plugins' settings: Discord does not send the already chosen plugin. */
function settingKeys(catalog: SettingsCatalog): Suggest {
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

const CHANGE = { tier: 'admin', where: 'guild' } as const;

/** `!prefix …`: the prefixes of commands in this guild. */
export function registerPrefixCommands({ group, services: { prefixes } }: AdminContext): void {
  // `Prefixes.add` checks the length.
  const prefix = z.string().min(1).describe('The prefix; quote it if it ends with a space');
  group({
    name: 'prefix',
    description: 'See and change what commands start with',
    commands: [
      subcommand({
        name: 'show',
        description: 'Show the prefixes of this server',
        run: (ctx) => ctx.reply(prefixesText(prefixes.get(ctx.actor.guildId))),
      }),
      subcommand({
        name: 'add',
        description: 'Add a prefix',
        access: CHANGE,
        options: { prefix },
        run: async (ctx, options) =>
          ctx.reply(prefixesText(await prefixes.add(requireGuildId(ctx.actor), options.prefix))),
      }),
      subcommand({
        name: 'remove',
        description: 'Remove a prefix',
        access: CHANGE,
        options: { prefix },
        run: async (ctx, options) =>
          ctx.reply(prefixesText(await prefixes.remove(requireGuildId(ctx.actor), options.prefix))),
      }),
      subcommand({
        name: 'reset',
        description: 'Go back to the default prefixes',
        access: CHANGE,
        run: async (ctx) => ctx.reply(prefixesText(await prefixes.reset(requireGuildId(ctx.actor)))),
      }),
    ],
  });
}

export function prefixesText(prefixes: readonly string[]): string {
  if (prefixes.length === 0) return t('There is no prefix here: start commands with a mention of me.');
  return t('Commands start with {prefixes} here, or with a mention of me.', { prefixes: codes(prefixes) });
}
