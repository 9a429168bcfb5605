import {
  CinnabarError,
  type CommandContext,
  option,
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
  z,
} from '@cinnabar/sdk';
import type { AdminContext } from './context.js';
import { code, codes, guildOf, MAX_SUGGESTIONS, readablePrefix, shownSetting, suggestFrom } from './format.js';

const RESET_WORD = 'reset';

/** `!set <plugin> [key] [value]` and `!unset <plugin> [key]`, also written `!set reset <plugin> [key]`. */
export function registerSettingsCommands(context: AdminContext): void {
  const { command, services } = context;
  const { catalog } = services;
  const plugin = option.suggested(suggestFrom(catalog.plugins)).describe('Id of the plugin');
  const key = option.suggested(settingKeys(catalog)).optional().describe('Which setting');

  command({
    name: 'set',
    audited: true,
    description: 'See and change settings',
    help: 'Without a value it shows the settings, with their types and defaults. `set reset <plugin> [key]` goes back to the default.',
    options: {
      plugin: plugin.optional(),
      key,
      value: option.rest().optional().describe('The new value'),
    },
    examples: ['set chat', 'set chat history 80', 'set reset chat history'],
    withheld: ({ plugin = '', key = '' }) =>
      plugin !== RESET_WORD && catalog.mayBeSecret(String(plugin), String(key)) ? ['value'] : [],
    async run(ctx, { plugin, key, value }) {
      if (plugin === undefined) return ctx.reply(overview(catalog, ctx));
      if (!catalog.plugins().includes(plugin) && plugin !== RESET_WORD) await suggestInstead(services, ctx, plugin);
      if (plugin === RESET_WORD && key !== undefined) return reset(services, ctx, key, value);
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
    run: (ctx, { plugin, key }) => reset(services, ctx, plugin, key),
  });
}

/** Those who know Red type `set prefix`. @throws UserError that names the command for it, where there is one */
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

function overview(catalog: SettingsCatalog, ctx: CommandContext): string {
  return t("These plugins have settings: {plugins}. See one's with {command}.", {
    plugins: codes(catalog.plugins()),
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

async function reset(
  { catalog }: AdminContext['services'],
  ctx: CommandContext,
  plugin: string,
  key: string | undefined,
) {
  await catalog.reset(plugin, key, ctx.actor);
  return ctx.reply(
    key === undefined
      ? t('The settings of {plugin} are back to the default.', { plugin: code(plugin) })
      : t('{key} of {plugin} is back to the default.', { key: code(key), plugin: code(plugin) }),
  );
}

async function changeable(
  { access, catalog }: AdminContext['services'],
  ctx: CommandContext,
  plugin: string,
): Promise<readonly SettingInfo[]> {
  const { actor } = ctx;
  if (!catalog.plugins().includes(plugin)) {
    const sentence = t('There is no plugin with settings called {name}.', { name: code(plugin) });
    throw new UserError(`${sentence} ${overview(catalog, ctx)}`);
  }
  return changeableBy(await access.tierOf(actor), await catalog.describe(plugin, actor));
}

function unknownKey(plugin: string, key: string, settings: readonly SettingInfo[]): CinnabarError {
  const hint =
    settings.length === 0 ? '' : ` ${t('It has {keys}.', { keys: codes(settings.map((info) => info.key)) })}`;
  return new CinnabarError('CINNABAR_SETTING_UNKNOWN', { plugin, key, hint });
}

/** Where a value of the scope holds, as it reads after the value. */
function placeWords(scope: SettingScope): string {
  switch (scope) {
    case 'global':
      return t('everywhere');
    case 'guild':
      return t('for this server');
    case 'channel':
      return t('for this channel');
    case 'role':
      return t('by role');
    case 'user':
      return t('for you');
    case 'member':
      return t('for you in this server');
  }
}

const CHANGED_BY: Readonly<Record<SettingScope, Tier>> = {
  global: 'botOwner',
  guild: 'admin',
  channel: 'admin',
  role: 'admin',
  user: 'everyone',
  member: 'everyone',
};

/** The settings that a member of the tier may change; the others are not shown to them. */
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

/** "`style` = `plain` for this server. Card style. One of plain, cyberpunk, terminal; default `plain`." */
function settingLine(setting: SettingInfo): string {
  const { key, value, scope, description, type, default: byDefault } = setting;
  const about = description === '' ? '' : ` ${sentence(translated(description))}`;
  const kind = sentence(t('{type}; default {value}', { type: capital(type), value: shownSetting(setting, byDefault) }));
  return `\`${key}\` = ${shownSetting(setting, value)} ${placeWords(scope)}.${about} ${kind}`;
}

/** After a change. */
export function changedText(setting: SettingInfo): string {
  const { key, plugin, value, scope, inForce } = setting;
  const words = { key, plugin: code(plugin), value: shownSetting(setting, value), place: placeWords(scope) };
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

/** Keys of every plugin's settings: Discord does not tell which plugin was chosen. */
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
  const prefix = z.string().min(1).max(16).describe('The prefix; quote it if it ends with a space');
  group({
    name: 'prefix',
    description: 'See and change what commands start with',
    commands: [
      subcommand({
        name: 'show',
        description: 'Show the prefixes of this server',
        run: (ctx) => ctx.reply(shown(prefixes.get(ctx.actor.guildId))),
      }),
      subcommand({
        name: 'add',
        description: 'Add a prefix',
        access: CHANGE,
        options: { prefix },
        run: async (ctx, options) => ctx.reply(shown(await prefixes.add(guildOf(ctx.actor), options.prefix))),
      }),
      subcommand({
        name: 'remove',
        description: 'Remove a prefix',
        access: CHANGE,
        options: { prefix },
        run: async (ctx, options) => ctx.reply(shown(await prefixes.remove(guildOf(ctx.actor), options.prefix))),
      }),
      subcommand({
        name: 'reset',
        description: 'Go back to the default prefixes',
        access: CHANGE,
        run: async (ctx) => ctx.reply(shown(await prefixes.reset(guildOf(ctx.actor)))),
      }),
    ],
  });
}

function shown(prefixes: readonly string[]): string {
  if (prefixes.length === 0) return t('There is no prefix here: start commands with a mention of me.');
  return t('Commands start with {prefixes} here, or with a mention of me.', { prefixes: codes(prefixes) });
}
