import {
  type Actor,
  CinnabarError,
  type ComponentInteraction,
  createKeyedMutex,
  option,
  type SettingInfo,
  sentenceOf,
  t,
} from '@cinnabar/sdk';
import { ButtonStyle, ComponentType, type Guild, MessageFlags } from 'discord.js';
import { LRUCache } from 'lru-cache';
import { type AdminContext, ID } from './context.js';
import { code, suggestFrom } from './format.js';
import { changeableBy, changedText } from './settings-commands.js';
import {
  formOf,
  isList,
  isSame,
  listPage,
  type Page,
  pluginPage,
  settingPage,
  type Tab,
  tabNames,
  tabOf,
} from './settings-page.js';

/** How long an unused panel stays valid, and the maximum number of panels. */
const LIVES_MS = 30 * 60_000;
const MOST_PANELS = 1_000;

/** One person's session with the settings. The shown state is stored, so that a press on an outdated page changes nothing. */
interface Panel {
  readonly id: string;
  readonly userId: string;
  plugin: string | undefined;
  tab: Tab | undefined;
  key: string | undefined;
  page: number;
  /** The setting as it was last shown. */
  shown: SettingInfo | undefined;
  /** Number of shown pages: a press on an earlier one is ignored. */
  serial: number;
  /** The result of the last press, shown above the page. */
  notice: string | undefined;
  /** The input that was not saved. */
  typed: string | undefined;
  until: number;
}

/** `!settings` and `/settings`: pages with menus and forms instead of `!set`, under the same rules. */
export function registerSettingsPanel({ command, component, services }: AdminContext): void {
  const { access, audit, catalog, clock, random } = services;
  const panels = new LRUCache<string, Panel>({ max: MOST_PANELS });
  const presses = createKeyedMutex();
  const handle = component({
    name: 'settings',
    run: (interaction, [id = '', serial = '', action = '', argument]) =>
      press(interaction, { id, serial, action, argument }),
  });

  const openPanel = (userId: string, plugin: string | undefined): Panel => {
    const id = random.id();
    const until = clock.now() + LIVES_MS;
    const panel: Panel = {
      id,
      userId,
      plugin,
      tab: undefined,
      key: undefined,
      page: 0,
      shown: undefined,
      serial: 0,
      notice: undefined,
      typed: undefined,
      until,
    };
    panels.set(id, panel);
    return panel;
  };

  const changeable = async (plugin: string, actor: Actor): Promise<readonly SettingInfo[]> => {
    const settings = changeableBy(await access.tierOf(actor), await catalog.describe(plugin, actor));
    return settings.filter(({ scope }) => tabOf(scope) !== undefined);
  };

  const render = async (panel: Panel, actor: Actor, guild: Guild | null): Promise<Page> => {
    panel.serial += 1;
    const serial = String(panel.serial);
    const id = (action: string, argument?: string) =>
      handle.customId(panel.id, serial, action, ...(argument === undefined ? [] : [argument]));
    const { notice, page } = panel;
    panel.shown = undefined;
    const settings =
      panel.plugin !== undefined && catalog.plugins().includes(panel.plugin)
        ? await changeable(panel.plugin, actor)
        : [];
    const tabs = tabNames.filter((tab) => settings.some(({ scope }) => tabOf(scope) === tab));
    if (panel.plugin === undefined || tabs[0] === undefined) {
      const usable: string[] = [];
      for (const plugin of catalog.plugins()) if ((await changeable(plugin, actor)).length > 0) usable.push(plugin);
      const missing =
        panel.plugin === undefined
          ? notice
          : t('{plugin} has no settings that you may change here.', { plugin: code(panel.plugin) });
      return pluginPage(id, usable, page, missing);
    }
    const setting = settings.find(({ key }) => key === panel.key);
    if (setting !== undefined) {
      panel.shown = setting;
      return settingPage(id, { setting, guild, page, notice, typed: panel.typed });
    }
    // Settings for most members first.
    const tab = tabs.find((one) => one === panel.tab) ?? tabs.find((one) => one === 'server') ?? tabs[0];
    const inTab = settings.filter(({ scope }) => tabOf(scope) === tab);
    return listPage(id, { plugin: panel.plugin, tabs, tab, settings: inTab, page, notice });
  };

  /** Checks the command for each press: a member who may not use the command here may not use its pages either, even those opened before. */
  const assertMayUse = async (name: 'settings' | 'set', actor: Actor): Promise<void> => {
    const decision = await access.decide(actor, { kind: 'command', name, plugin: ID, policy: {} });
    if (decision.allowed) return;
    const reasons = decision.reasons
      .filter(({ allowed }) => !allowed)
      .map(({ text }) => text)
      .join('; ');
    throw new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons });
  };

  /** Saves a value, or resets it for `undefined`. @returns the text about the result */
  const save = async (before: SettingInfo, value: Value, actor: Actor): Promise<string> => {
    const { plugin, key } = before;
    const expected = { value: before.value };
    for (const name of ['settings', 'set'] as const) await assertMayUse(name, actor);
    if (value !== undefined)
      return changedText(await catalog.set(plugin, key, value, actor, { expected, privately: true }));
    await catalog.reset(plugin, key, actor, { expected });
    return t('{key} of {plugin} is back to the default.', { key: code(key), plugin: code(plugin) });
  };

  /** Saves a change. When it cannot be saved, the reason becomes the page's notice, and the input is kept. */
  const change = async (panel: Panel, before: SettingInfo, value: Value, actor: Actor): Promise<void> => {
    const { secret } = before;
    try {
      panel.notice = `✓ ${await save(before, value, actor)}`;
      panel.typed = undefined;
      audit.record({ actor, act: settingAct(before, value), outcome: 'done' });
    } catch (error) {
      const sentence = sentenceOf(error);
      if (sentence === undefined) throw error;
      const outcome = hasCode(error, 'CINNABAR_ACCESS_DENIED') ? 'denied' : 'refused';
      audit.record({ actor, act: settingAct(before, value), outcome, reason: secret ? undefined : sentence });
      panel.typed = secret ? undefined : typeof value === 'object' ? value.join('\n') : value;
      panel.notice = `⚠️ ${(await changedMeanwhile(error, before, actor)) ?? sentence}`;
    }
  };

  const changedMeanwhile = async (error: unknown, before: SettingInfo, actor: Actor): Promise<string | undefined> => {
    if (!hasCode(error, 'CINNABAR_SETTING_CHANGED')) return undefined;
    const now = (await catalog.describe(before.plugin, actor)).find(({ key }) => key === before.key);
    return t(
      '{key} has been changed meanwhile: it was {before}, and is {now} now. Nothing was done; press again if you still want to change it.',
      {
        key: code(before.key),
        before: code(before.value),
        now: code(now?.value),
      },
    );
  };

  const press = async (interaction: ComponentInteraction, pressed: Pressed): Promise<unknown> => {
    const { user, guild, guildId, channelId } = interaction;
    const actor: Actor = { userId: user.id, guildId, channelId: channelId ?? '' };
    // Saving checks access as well, and keeps the input of a form.
    if (!interaction.isModalSubmit()) await assertMayUse('settings', actor);
    if (pressed.action === 'open') {
      const page = await render(openPanel(actor.userId, pressed.argument), actor, guild);
      return interaction.reply({ ...asMessage(page), flags: MessageFlags.Ephemeral });
    }
    const panel = panels.get(pressed.id);
    if (panel === undefined || panel.until < clock.now()) return refuseOld(interaction, pressed, panel?.plugin);
    if (panel.userId !== actor.userId) {
      const content = t('Only the person who opened this page can use it. `/settings` opens your own.');
      return interaction.reply({ content, flags: MessageFlags.Ephemeral });
    }
    panel.until = clock.now() + LIVES_MS;
    return presses.run(panel.id, async () => {
      const isCurrent = pressed.serial === String(panel.serial);
      if (interaction.isModalSubmit() && !isCurrent) return refuseOld(interaction, pressed, panel.plugin);
      if (isCurrent && pressed.action === 'edit') return showForm(interaction, panel, actor, pressed);
      await interaction.deferUpdate();
      if (isCurrent) await follow(interaction, panel, actor, pressed);
      await interaction.editReply(asMessage(await render(panel, actor, guild)));
      panel.notice = undefined;
      return undefined;
    });
  };

  const follow = async (interaction: ComponentInteraction, panel: Panel, actor: Actor, pressed: Pressed) => {
    const values = interaction.isAnySelectMenu() ? interaction.values : [];
    const { shown } = panel;
    const value = shown === undefined ? NOTHING : newValueOf(interaction, shown, pressed, values);
    if (shown !== undefined && value !== NOTHING) await change(panel, shown, value.value, actor);
    else Object.assign(panel, wayOf(panel, pressed, values));
  };

  /** The form shows the current value, so that the person reads the value that they replace. */
  const showForm = async (
    interaction: ComponentInteraction,
    panel: Panel,
    actor: Actor,
    pressed: Pressed,
  ): Promise<unknown> => {
    const { shown } = panel;
    if (shown === undefined || interaction.isModalSubmit()) return refuseOld(interaction, pressed, panel.plugin);
    const now = (await changeable(shown.plugin, actor)).find(({ key }) => key === shown.key);
    if (now === undefined) return refuseOld(interaction, pressed, panel.plugin);
    panel.shown = now;
    if (!isSame(now.value, shown.value)) panel.typed = undefined;
    const id = handle.customId(panel.id, String(panel.serial), 'typed', ...(now.secret ? [SECRET] : []));
    const form = formOf(id, now, panel.typed);
    if (form !== undefined) return interaction.showModal(form);
    const content = t('This value is too long for a form. `set` takes it as text.');
    return interaction.reply({ content, flags: MessageFlags.Ephemeral });
  };

  /** Refuses a press on a page from before a restart, or one that was unused for long. The text of its form is returned, unless it is a secret. */
  const refuseOld = (
    interaction: ComponentInteraction,
    { argument }: Pressed,
    plugin: string | undefined,
  ): Promise<unknown> => {
    const typed =
      interaction.isModalSubmit() && argument !== SECRET ? interaction.fields.getTextInputValue('value') : '';
    const content = [
      t('This page is too old, or from before I was started again. Nothing was changed.'),
      ...(typed === '' ? [] : [t('You typed:'), `\`\`\`\n${typed.replaceAll('```', 'ˋˋˋ').slice(0, 1_500)}\n\`\`\``]),
    ].join('\n');
    const label = t('Open the settings');
    const custom_id = handle.customId('', '', 'open', ...(plugin === undefined ? [] : [plugin]));
    const again = { type: ComponentType.Button, style: ButtonStyle.Primary, label, custom_id } as const;
    return interaction.reply({
      content,
      components: [{ type: ComponentType.ActionRow, components: [again] }],
      flags: MessageFlags.Ephemeral,
      allowedMentions: { parse: [] },
    });
  };

  command({
    name: 'settings',
    description: 'See and change settings with menus and forms',
    help: 'Yours, the channel’s, the server’s and the bot’s, as far as you may change them; the same rules as for `set`.',
    ephemeral: true,
    options: { plugin: option.suggested(suggestFrom(catalog.plugins)).optional().describe('Id of the plugin') },
    examples: ['settings', 'settings chat'],
    async run(ctx, { plugin }) {
      await ctx.reply(asMessage(await render(openPanel(ctx.actor.userId, plugin), ctx.actor, ctx.guild)));
    },
  });
}

/** The content of a custom id. */
interface Pressed {
  readonly id: string;
  readonly serial: string;
  readonly action: string;
  readonly argument: string | undefined;
}

/** A text, the items of a list, or the default. */
export type Value = string | readonly string[] | undefined;

/** The end of the custom id of a form for a secret. */
const SECRET = 'secret';

const NOTHING = { value: undefined };

/** The new value for the shown setting; `NOTHING` for a press that navigates. */
function newValueOf(
  interaction: ComponentInteraction,
  shown: SettingInfo,
  { action, argument }: Pressed,
  values: readonly string[],
): { readonly value: Value } {
  if (action === 'set') return { value: argument ?? '' };
  if (action === 'reset') return { value: undefined };
  if (action === 'choose') return { value: isList(shown.control) ? values : (values[0] ?? '') };
  if (action !== 'typed' || !interaction.isModalSubmit()) return NOTHING;
  return { value: valueOfForm(shown, interaction.fields.getTextInputValue('value')) };
}

/** The next page of the panel, for a press that changes no setting. */
function wayOf(panel: Panel, { action, argument }: Pressed, [chosen]: readonly string[]): Partial<Panel> {
  const atBeginning = { page: 0, key: undefined, typed: undefined };
  switch (action) {
    case 'plugins':
      return { ...atBeginning, plugin: undefined, tab: undefined };
    case 'plugin':
      return { ...atBeginning, plugin: chosen, tab: undefined };
    case 'tab':
      return { ...atBeginning, tab: tabNames.find((tab) => tab === chosen) };
    case 'key':
      return { ...atBeginning, key: chosen };
    case 'back':
      return { ...atBeginning, tab: panel.shown === undefined ? panel.tab : tabOf(panel.shown.scope) };
    case 'page':
      return { page: Number(argument) || 0 };
    default:
      return {};
  }
}

/** The command line of a change, for the audit. */
export function settingAct(
  { plugin, key, secret }: Pick<SettingInfo, 'plugin' | 'key' | 'secret'>,
  value: Value,
): string {
  if (value === undefined) return `unset ${plugin} ${key}`;
  return `set ${plugin} ${key} ${secret ? '(secret)' : typeof value === 'string' ? value : value.join(', ')}`;
}

function hasCode(error: unknown, code: CinnabarError['code']): boolean {
  return error instanceof CinnabarError && error.code === code;
}

function asMessage({ content, components }: Page) {
  return { content, components: [...components], allowedMentions: { parse: [] } };
}

/** The value of a form: the lines of a list, or JSON. An empty text is the default, except for a list, which can be empty. */
export function valueOfForm(
  { control }: Pick<SettingInfo, 'control'>,
  text: string,
): string | readonly string[] | undefined {
  if (!isList(control)) return text.trim() === '' ? undefined : text;
  if (text.trim().startsWith('[')) {
    try {
      JSON.parse(text);
      return text.trim();
    } catch {
      // Not JSON, but a line that begins with a bracket.
    }
  }
  return text.split('\n').filter((line) => line.trim() !== '');
}
