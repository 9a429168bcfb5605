import {
  type Access,
  type Actor,
  CinnabarError,
  type CommandContext,
  option,
  type Registrar,
  type SettingInfo,
  type SettingsCatalog,
  UserError,
} from '@cinnabar/sdk';
import { code, codes } from './format.js';
import { changeableBy, changedText, listOfSettings, settingLine } from './settings-report.js';
import { settingKeys, suggestFrom } from './suggestions.js';

export interface SettingsCommandParts {
  readonly access: Access;
  readonly catalog: SettingsCatalog;
}

const RESET_WORD = 'reset';

/** `!set <plugin> [key] [value]` and `!unset <plugin> [key]`, also written `!set reset <plugin> [key]`. */
export function registerSettingsCommands({ command }: Pick<Registrar, 'command'>, parts: SettingsCommandParts): void {
  const { catalog } = parts;
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
    run(ctx, { plugin, key, value }) {
      if (plugin === undefined) return ctx.reply(overview(parts));
      if (plugin === RESET_WORD && key !== undefined) return reset(parts, ctx, key, value);
      if (key === undefined) return showAll(parts, ctx, plugin);
      return value === undefined ? showOne(parts, ctx, plugin, key) : change(parts, ctx, plugin, key, value);
    },
  });
  command({
    name: 'unset',
    audited: true,
    description: 'Put a setting, or all of a plugin, back to the default',
    options: { plugin, key },
    examples: ['unset chat history', 'unset chat'],
    run: (ctx, { plugin, key }) => reset(parts, ctx, plugin, key),
  });
}

function overview({ catalog }: SettingsCommandParts): string {
  return `These plugins have settings: ${codes(catalog.plugins())}. See one's with \`set <plugin>\`.`;
}

async function showAll(parts: SettingsCommandParts, ctx: CommandContext, plugin: string): Promise<unknown> {
  return ctx.reply(listOfSettings(plugin, await changeable(parts, ctx.actor, plugin)));
}

async function showOne(parts: SettingsCommandParts, ctx: CommandContext, plugin: string, key: string) {
  const settings = await changeable(parts, ctx.actor, plugin);
  const found = settings.filter((info) => info.key === key || info.key.endsWith(`.${key}`));
  if (found.length === 0) throw unknownKey(plugin, key, settings);
  return ctx.reply(found.map(settingLine).join('\n'));
}

async function change({ catalog }: SettingsCommandParts, ctx: CommandContext, ...what: [string, string, string]) {
  const [plugin, key, value] = what;
  return ctx.reply(changedText(await catalog.set(plugin, key, value, ctx.actor)));
}

async function reset({ catalog }: SettingsCommandParts, ctx: CommandContext, plugin: string, key: string | undefined) {
  await catalog.reset(plugin, key, ctx.actor);
  const what = key === undefined ? `The settings of ${code(plugin)} are` : `${code(key)} of ${code(plugin)} is`;
  return ctx.reply(`${what} back to the default.`);
}

async function changeable(
  { access, catalog }: SettingsCommandParts,
  actor: Actor,
  plugin: string,
): Promise<readonly SettingInfo[]> {
  if (!catalog.plugins().includes(plugin)) {
    throw new UserError(`There is no plugin with settings called ${code(plugin)}. ${overview({ access, catalog })}`);
  }
  return changeableBy(await access.tierOf(actor), await catalog.describe(plugin, actor));
}

function unknownKey(plugin: string, key: string, settings: readonly SettingInfo[]): CinnabarError {
  const hint = settings.length === 0 ? '' : ` It has ${codes(settings.map((info) => info.key))}.`;
  return new CinnabarError('CINNABAR_SETTING_UNKNOWN', { plugin, key, hint });
}
