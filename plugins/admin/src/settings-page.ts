import {
  asNotice,
  formatDuration,
  type SettingInfo,
  type SettingScope,
  type SettingType,
  t,
  translated,
} from '@cinnabar/sdk';
import {
  type APIActionRowComponent,
  type APIButtonComponentWithCustomId,
  type APIChannelSelectComponent,
  type APIComponentInMessageActionRow,
  type APIModalInteractionResponseCallbackData,
  type APIRoleSelectComponent,
  type APIStringSelectComponent,
  type APIUserSelectComponent,
  ButtonStyle,
  ComponentType,
  type Guild,
  SelectMenuDefaultValueType,
  TextInputStyle,
} from 'discord.js';
import { code, shownSetting } from './format.js';

/** Groups of scopes for display, the narrowest first. Settings by role can only be changed with `!set`: each role has its own values. */
const TABS = {
  mine: ['member', 'user'],
  channel: ['channel'],
  server: ['guild'],
  bot: ['global'],
} as const satisfies Record<string, readonly SettingScope[]>;
export type Tab = keyof typeof TABS;

export function tabOf(scope: SettingScope): Tab | undefined {
  for (const tab of tabNames) if (TABS[tab].some((one) => one === scope)) return tab;
  return undefined;
}
export const tabNames: readonly Tab[] = ['mine', 'channel', 'server', 'bot'];

export function tabWords(tab: Tab): string {
  switch (tab) {
    case 'mine':
      return t('Mine');
    case 'channel':
      return t('This channel');
    case 'server':
      return t('This server');
    case 'bot':
      return t('The bot, everywhere');
  }
}

/** The content of a page. */
export interface Page {
  readonly content: string;
  readonly components: readonly APIActionRowComponent<APIComponentInMessageActionRow>[];
}
type CustomId = (action: string, argument?: string) => string;

/** Discord's limits: options of a menu, characters of a label, of a menu's option, of a modal's title and text. */
const MOST_OPTIONS = 25;
const LONGEST_LABEL = 100;
const LONGEST_TITLE = 45;
const LONGEST_TEXT = 4_000;
const SETTINGS_A_PAGE = 10;

export function clip(text: string, longest: number): string {
  const characters = [...text];
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join('')}…`;
}

type Row = APIActionRowComponent<APIComponentInMessageActionRow>;

function row(...components: APIComponentInMessageActionRow[]): Row {
  return { type: ComponentType.ActionRow, components };
}

function button(customId: string, label: string, options: Partial<APIButtonComponentWithCustomId> = {}) {
  return { type: ComponentType.Button, style: ButtonStyle.Secondary, custom_id: customId, label, ...options } as const;
}

/** Buttons to the previous and the next page; none for a single page. */
function paging(id: CustomId, page: number, pages: number): readonly APIButtonComponentWithCustomId[] {
  if (pages < 2) return [];
  return [
    button(id('page', String(page - 1)), t('◀ Previous'), { disabled: page === 0 }),
    button(id('page', String(page + 1)), t('Next ▶'), { disabled: page === pages - 1 }),
  ];
}

function part<T>(all: readonly T[], wanted: number, size: number) {
  const pages = Math.max(1, Math.ceil(all.length / size));
  const page = Math.min(Math.max(0, wanted), pages - 1);
  return { page, pages, items: all.slice(page * size, (page + 1) * size) };
}

/** The first page: a choice of plugins. */
export function pluginPage(id: CustomId, plugins: readonly string[], wanted: number, notice: string | undefined): Page {
  const { page, pages, items } = part(plugins, wanted, MOST_OPTIONS);
  const menu: APIStringSelectComponent = {
    type: ComponentType.StringSelect,
    custom_id: id('plugin'),
    placeholder: t('Choose a plugin'),
    options: items.map((plugin) => ({ label: plugin, value: plugin })),
  };
  const buttons = paging(id, page, pages);
  return {
    content: contentOf(notice, [
      t('**Settings**'),
      items.length === 0 ? t('There is nothing here that you may change.') : t('Which plugin’s?'),
    ]),
    components: [...(items.length === 0 ? [] : [row(menu)]), ...(buttons.length === 0 ? [] : [row(...buttons)])],
  };
}

interface ListPage {
  readonly plugin: string;
  readonly tabs: readonly Tab[];
  readonly tab: Tab;
  readonly settings: readonly SettingInfo[];
  readonly page: number;
  readonly notice: string | undefined;
}

/** A plugin's settings of one scope. */
export function listPage(id: CustomId, { plugin, tabs, tab, settings, page: wanted, notice }: ListPage): Page {
  const { page, pages, items } = part(settings, wanted, SETTINGS_A_PAGE);
  const scopes: APIStringSelectComponent = {
    type: ComponentType.StringSelect,
    custom_id: id('tab'),
    options: tabs.map((one) => ({ label: tabWords(one), value: one, default: one === tab })),
  };
  const keys: APIStringSelectComponent = {
    type: ComponentType.StringSelect,
    custom_id: id('key'),
    placeholder: t('Change a setting'),
    options: items.map(({ key, description, value, secret }) => ({
      label: clip(key, LONGEST_LABEL),
      value: key,
      description: clip(
        `${secret ? '' : `${plainValue(value)} · `}${translated(description)}`.trim() || key,
        LONGEST_LABEL,
      ),
    })),
  };
  return {
    content: contentOf(notice, [
      t('**Settings of {plugin}**: {tab}', { plugin, tab: tabWords(tab) }),
      ...items.map(
        (setting) =>
          `${isSame(setting.value, setting.default) ? '•' : '✎'} \`${setting.key}\` = ${shortly(setting)} ${clip(translated(setting.description), 80)}`,
      ),
    ]),
    components: [
      ...(tabs.length < 2 ? [] : [row(scopes)]),
      row(keys),
      row(button(id('plugins'), t('Other plugins')), ...paging(id, page, pages)),
    ],
  };
}

interface SettingPage {
  readonly setting: SettingInfo;
  readonly guild: Guild | null;
  /** Page size of long lists of choices. */
  readonly page: number;
  readonly notice: string | undefined;
  /** The typed text that could not be saved. */
  readonly typed: string | undefined;
}

/** One setting, with the controls that change it. */
export function settingPage(id: CustomId, { setting, guild, page, notice, typed }: SettingPage): Page {
  const { plugin, key, scope, description, type, value, default: byDefault, secret } = setting;
  const tab = tabOf(scope);
  return {
    content: contentOf(notice, [
      ...(typed === undefined || secret ? [] : [t('You gave: {typed}', { typed: code(typed) })]),
      t('**{key}** of {plugin}: {tab}', { key, plugin, tab: tab === undefined ? scope : tabWords(tab) }),
      ...(description === '' ? [] : [translated(description)]),
      t('It takes: {type}.', { type }),
      t('Now {value}; by default {byDefault}.', {
        value: shownSetting(setting, value),
        byDefault: shownSetting(setting, byDefault),
      }),
    ]),
    components: [
      ...controls(id, setting, guild, page, typed),
      row(
        button(id('back'), t('Back')),
        button(id('reset'), t('Reset to the default'), {
          style: ButtonStyle.Danger,
          disabled: !secret && isSame(value, byDefault),
        }),
      ),
    ],
  };
}

/** The controls for types whose values are selected; all others are typed. */
type Control =
  | { readonly kind: 'switch' }
  | { readonly kind: 'choice'; readonly values: readonly unknown[]; readonly most: number; readonly least: number }
  | { readonly kind: 'entity'; readonly of: 'channel' | 'role' | 'user'; readonly most: number; readonly least: number }
  | { readonly kind: 'form' };

export function controlOf(type: SettingType, guild: Guild | null, secret: boolean): Control {
  if (secret) return { kind: 'form' };
  switch (type.kind) {
    case 'boolean':
      return { kind: 'switch' };
    case 'choice':
      return { kind: 'choice', values: type.values, least: 1, most: 1 };
    case 'mention': {
      const of = type.of === 'member' ? 'user' : type.of;
      return guild === null && of !== 'user' ? { kind: 'form' } : { kind: 'entity', of, least: 1, most: 1 };
    }
    case 'list': {
      const one = controlOf(type.of, guild, false);
      const most = Math.min(type.max ?? MOST_OPTIONS, MOST_OPTIONS);
      if (one.kind === 'entity') return { ...one, least: 0, most };
      if (one.kind === 'choice' && one.values.length <= MOST_OPTIONS)
        return { ...one, least: 0, most: Math.min(most, one.values.length) };
      return { kind: 'form' };
    }
    case 'either': {
      const [only, ...others] = type.of.filter(({ kind }) => kind !== 'nothing');
      if (only !== undefined && others.length === 0) return controlOf(only, guild, false);
      const values = type.of.flatMap((one) => (one.kind === 'choice' ? one.values : []));
      const isChoice = type.of.every(({ kind }) => kind === 'choice' || kind === 'nothing');
      return isChoice ? { kind: 'choice', values, least: 1, most: 1 } : { kind: 'form' };
    }
    default:
      return { kind: 'form' };
  }
}

/** Whether a setting is a list, which a form shows line by line. */
export function isList(type: SettingType): boolean {
  return type.kind === 'list' || (type.kind === 'either' && type.of.some(isList));
}

function controls(
  id: CustomId,
  { control: type, value, secret }: SettingInfo,
  guild: Guild | null,
  page: number,
  typed: string | undefined,
): readonly Row[] {
  const control = controlOf(type, guild, secret);
  const given: readonly unknown[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  switch (control.kind) {
    case 'switch':
      return [
        row(
          button(id('set', 'yes'), t('On'), { style: ButtonStyle.Success, disabled: value === true }),
          button(id('set', 'no'), t('Off'), { disabled: value === false }),
        ),
      ];
    case 'choice': {
      const { items, pages, page: shown } = part(control.values, page, MOST_OPTIONS);
      const menu: APIStringSelectComponent = {
        type: ComponentType.StringSelect,
        custom_id: id('choose'),
        placeholder: t('Choose'),
        min_values: control.least,
        max_values: control.most,
        options: items.map((one) => ({
          label: clip(String(one), LONGEST_LABEL),
          value: clip(String(one), LONGEST_LABEL),
          default: given.some((chosen) => isSame(chosen, one)),
        })),
      };
      const buttons = paging(id, shown, pages);
      return [row(menu), ...(buttons.length === 0 ? [] : [row(...buttons)])];
    }
    case 'entity':
      return given.length > control.most ? [formRow(id, typed)] : [row(entityMenu(id, control, given, guild))];
    case 'form':
      return [formRow(id, typed)];
  }
}

function formRow(id: CustomId, typed: string | undefined): Row {
  const label = typed === undefined ? t('Change …') : t('Correct what I typed …');
  return row(button(id('edit'), label, { style: ButtonStyle.Primary }));
}

function entityMenu(
  id: CustomId,
  { of, least, most }: Extract<Control, { kind: 'entity' }>,
  given: readonly unknown[],
  guild: Guild | null,
): APIChannelSelectComponent | APIRoleSelectComponent | APIUserSelectComponent {
  const common = { custom_id: id('choose'), min_values: least, max_values: most };
  const ids = given.filter((one) => typeof one === 'string');
  // Discord refuses a menu with an initial selection that does not exist.
  const there = ids.filter((one) => (of === 'channel' ? guild?.channels.cache.has(one) : guild?.roles.cache.has(one)));
  if (of === 'channel') {
    const type = SelectMenuDefaultValueType.Channel;
    return { type: ComponentType.ChannelSelect, ...common, default_values: there.map((one) => ({ id: one, type })) };
  }
  if (of === 'role') {
    const type = SelectMenuDefaultValueType.Role;
    return { type: ComponentType.RoleSelect, ...common, default_values: there.map((one) => ({ id: one, type })) };
  }
  const type = SelectMenuDefaultValueType.User;
  return { type: ComponentType.UserSelect, ...common, default_values: ids.map((one) => ({ id: one, type })) };
}

/** The form of a typed setting, with its value as text or the last typed text. @returns nothing for a value that is too long for a form */
export function formOf(
  customId: string,
  { key, type, control, value, secret, default: byDefault }: SettingInfo,
  typed: string | undefined,
): APIModalInteractionResponseCallbackData | undefined {
  const text = secret ? '' : (typed ?? textOf(control, value));
  if (text.length > LONGEST_TEXT) return undefined;
  const isLong =
    isList(control) || text.length > 100 || text.includes('\n') || ['object', 'anything'].includes(control.kind);
  const most =
    control.kind === 'text' && control.max !== undefined ? Math.min(control.max, LONGEST_TEXT) : LONGEST_TEXT;
  const hint = isList(control) ? t('{type}; one in each line', { type }) : type;
  return {
    custom_id: customId,
    title: clip(key, LONGEST_TITLE),
    components: [
      {
        type: ComponentType.Label,
        label: clip(t('New value'), LONGEST_TITLE),
        description: clip(hint, 100),
        component: {
          type: ComponentType.TextInput,
          custom_id: 'value',
          style: isLong ? TextInputStyle.Paragraph : TextInputStyle.Short,
          required: false,
          max_length: Math.max(most, text.length, 1),
          ...(text === '' ? {} : { value: text }),
          placeholder: clip(t('Empty: the default, {byDefault}', { byDefault: plainValue(byDefault) }), 100),
        },
      },
    ],
  };
}

/** A value as typed text. */
export function textOf(type: SettingType, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (type.kind === 'either') {
    const fitting = type.of.find((one) => (one.kind === 'list') === Array.isArray(value) && one.kind !== 'nothing');
    return textOf(fitting ?? { kind: 'anything' }, value);
  }
  if (type.kind === 'duration' && typeof value === 'number') return formatDuration(value);
  if (type.kind === 'list' && Array.isArray(value)) {
    const lines = value.map((item) => textOf(type.of, item));
    // Values that do not fit on one line each are shown as JSON.
    return lines.some((line) => line.includes('\n') || line.trim() !== line || line === '')
      ? JSON.stringify(value, undefined, 2)
      : lines.join('\n');
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function contentOf(notice: string | undefined, lines: readonly string[]): string {
  return asNotice(clip([...(notice === undefined ? [] : [notice, '']), ...lines].join('\n'), 1_990));
}

/** A short text for a value, without markup. */
export function plainValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '–');
  return clip(text.replaceAll(/\s+/g, ' ').trim() || '–', 50);
}

function shortly(setting: SettingInfo): string {
  const shown = shownSetting(setting, setting.value);
  return shown.length <= 60 ? shown : code(plainValue(setting.value));
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
