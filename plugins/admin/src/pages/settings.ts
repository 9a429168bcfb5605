import {
  type Actor,
  CinnabarError,
  NO_CHANNEL,
  type SettingInfo,
  t,
  translated,
  type WebBlock,
  type WebField,
  type WebRequest,
  webAct,
  z,
} from '@cinnabar/sdk';
import type { Guild } from 'discord.js';
import type { AdminContext } from '../context.js';
import { changeableBy, changedText } from '../settings-commands.js';
import { controlOf, isSame, plainValue, type Tab, tabNames, tabOf, tabWords, textOf } from '../settings-page.js';
import { settingAct, type Value, valueOfForm } from '../settings-panel.js';

/** A value in a form: a text, a number, a switch, or a list of ids. */
const given = z.union([z.string().max(100_000), z.number(), z.boolean(), z.array(z.string().max(4_000)).max(1_000)]);

/** Settings of all plugins as forms, of a guild and of the bot, under the same rules as `!set`. */
export function registerSettingsPages(context: AdminContext): void {
  const { page, client, services } = context;
  const { access, catalog } = services;

  const changeable = async (plugin: string, actor: Actor): Promise<readonly SettingInfo[]> => {
    const settings = changeableBy(await access.tierOf(actor), await catalog.describe(plugin, actor));
    return settings.filter(
      ({ scope }) => tabOf(scope) !== undefined && (scope === 'global') === (actor.guildId === null),
    );
  };

  const find = async (plugin: string, key: string, actor: Actor): Promise<SettingInfo> => {
    const setting = (await changeable(plugin, actor)).find((one) => one.key === key);
    if (setting === undefined) throw new CinnabarError('CINNABAR_SETTING_UNKNOWN', { plugin, key, hint: '' });
    return setting;
  };

  /** The undo that restores the previous value; none for a secret, which cannot be read. */
  const backTo = async (former: SettingInfo, actor: Actor) => {
    const { plugin, key, secret, value, default: byDefault } = former;
    const now = secret ? undefined : await find(plugin, key, actor);
    if (now === undefined || isSame(now.value, value)) return undefined;
    const guild = actor.guildId === null ? null : (client.guilds.cache.get(actor.guildId) ?? null);
    const was = isSame(value, byDefault) ? {} : { value: controlAndValue(former, guild).value };
    return { act: 'set', input: { plugin, key, seen: now.value, ...was } };
  };

  /** The actor in the page's channel, for settings of a channel. A channel that the person cannot see counts as unknown. */
  const actorOf = async ({ actor, query: { channel } }: WebRequest): Promise<Actor> => {
    const { guildId } = actor;
    if (guildId === null || channel === undefined) return actor;
    return (await access.mayEnter(actor, { guildId, channelId: channel })) ? { ...actor, channelId: channel } : actor;
  };

  interface Change {
    readonly plugin: string;
    readonly key: string;
    /** Absent: resets to the default. */
    readonly value?: z.output<typeof given> | undefined;
    readonly seen?: unknown;
  }
  const change = async ({ plugin, key, value, seen }: Change, request: WebRequest) => {
    const actor = await actorOf(request);
    const setting = await find(plugin, key, actor);
    const typed = textFrom(setting, value);
    const expected = { value: seen };
    const said =
      typed === undefined
        ? t('{key} of {plugin} is back to the default.', { key: `\`${key}\``, plugin: `\`${plugin}\`` })
        : changedText(await catalog.set(plugin, key, typed, actor, { expected, privately: true }));
    if (typed === undefined) await catalog.reset(plugin, key, actor, { expected });
    const undo = await backTo(setting, actor);
    return undo === undefined ? { said } : { said, undo };
  };

  const acts = {
    set: webAct({
      effect: 'changes',
      input: z.object({ plugin: z.string(), key: z.string(), value: given.optional(), seen: z.unknown().optional() }),
      access: { command: 'set' },
      audit: ({ plugin, key, value }) =>
        settingAct({ plugin, key, secret: catalog.mayBeSecret(plugin, key) }, auditedValue(value)),
      run: change,
    }),
    reset: webAct({
      input: z.object({ plugin: z.string(), key: z.string(), seen: z.unknown().optional() }),
      effect: 'destroys',
      question: ({ plugin = '', key = '' }) =>
        catalog.mayBeSecret(plugin, key)
          ? t('Go back to the default of {key}? Its value is never shown, so nothing brings it back.', {
              key: `\`${key}\``,
            })
          : t('Go back to the default of {key}?', { key: `\`${key}\`` }),
      access: { command: 'set' },
      audit: ({ plugin, key }) => settingAct({ plugin, key, secret: catalog.mayBeSecret(plugin, key) }, undefined),
      run: change,
    }),
  };

  const overview = async (request: WebRequest): Promise<readonly WebBlock[]> => {
    const actor = await actorOf(request);
    const rows = [];
    for (const plugin of catalog.plugins()) {
      const settings = await changeable(plugin, actor);
      if (settings.length === 0) continue;
      const changed = settings.filter(isChanged).length;
      const link = { page: pageOf(actor), query: { ...request.query, plugin } };
      const linkToChanged = { ...link, query: { ...link.query, changed: 'true' } };
      rows.push({
        id: plugin,
        cells: [
          plugin,
          { count: settings.length, link },
          changed === 0 ? null : { count: changed, link: linkToChanged },
        ],
        link,
      });
    }
    return [
      {
        kind: 'table',
        columns: [{ name: t('Plugin') }, { name: t('Settings'), numeric: true }, { name: t('Changed'), numeric: true }],
        rows,
        empty: t('There is nothing here that you may change.'),
      },
    ];
  };

  const ofPlugin = async (plugin: string, request: WebRequest): Promise<readonly WebBlock[]> => {
    const actor = await actorOf(request);
    const guild = actor.guildId === null ? null : (client.guilds.cache.get(actor.guildId) ?? null);
    const all = await changeable(plugin, actor);
    const settings = request.query.changed === 'true' ? all.filter(isChanged) : all;
    const tabs = ORDER.filter((tab) => settings.some(({ scope }) => tabOf(scope) === tab));
    const narrowed: readonly WebBlock[] =
      settings.length === all.length
        ? []
        : [
            {
              kind: 'notice',
              tone: 'plain',
              text: t('Only what is not as by default is shown.'),
              link: { page: pageOf(actor), query: { plugin }, text: t('All settings') },
            },
          ];
    const shown = tabs.flatMap((tab): readonly WebBlock[] => {
      const inTab = settings.filter(({ scope }) => tabOf(scope) === tab);
      if (tab === 'channel' && actor.channelId === NO_CHANNEL)
        return [{ kind: 'section', title: tabWords(tab), blocks: [chooseChannel(plugin)] }];
      return [
        {
          kind: 'section',
          title: tabWords(tab),
          closed: tab === 'channel',
          blocks: inTab.map((setting) => formFor(setting, guild)),
        },
      ];
    });
    return [...narrowed, ...shown];
  };

  for (const about of ['guild', 'bot'] as const)
    page({
      name: about === 'guild' ? 'settings' : 'bot-settings',
      title: 'Settings',
      description: 'What each plugin does here, checked before it is saved.',
      about,
      group: about === 'guild' ? 'server' : 'operation',
      access: about === 'guild' ? { command: 'set' } : { tier: 'botOwner' },
      async view(request) {
        const { plugin } = request.query;
        if (plugin === undefined || !catalog.plugins().includes(plugin)) return { blocks: await overview(request) };
        return { title: t('Settings of {plugin}', { plugin }), blocks: await ofPlugin(plugin, request) };
      },
      acts,
    });
}

const isChanged = ({ value, default: byDefault }: SettingInfo): boolean => !isSame(value, byDefault);

const pageOf = ({ guildId }: Actor): string => (guildId === null ? 'admin/bot-settings' : 'admin/settings');

/** Tabs, with the settings for most members first. */
const ORDER: readonly Tab[] = [...tabNames].sort((one, other) => rank(one) - rank(other));

function rank(tab: Tab): number {
  return ['server', 'bot', 'channel', 'mine'].indexOf(tab);
}

const chooseChannel = (plugin: string): WebBlock => ({
  kind: 'search',
  fields: [{ name: 'channel', label: t('Channel'), control: { kind: 'channel' } }],
  query: { plugin },
  submit: t('Show its settings'),
});

/** A form on one line: the description of the setting, and its control. */
function formFor(setting: SettingInfo, guild: Guild | null): WebBlock {
  const { plugin, key, value, secret, description, type, default: byDefault } = setting;
  const input = { plugin, key, seen: value };
  const about = translated(description);
  const hint = [
    about === '' || /[.!?]$/.test(about) ? about : `${about}.`,
    t('It takes: {type}.', { type }),
    ...(byDefault === undefined ? [] : [t('By default {value}.', { value: plainValue(byDefault) })]),
  ];
  return {
    kind: 'form',
    act: 'set',
    compact: true,
    fields: [
      {
        name: 'value',
        label: key,
        hint: hint.filter((part) => part !== '').join(' '),
        optional: true,
        ...controlAndValue(setting, guild),
      },
    ],
    submit: t('Save'),
    input,
    buttons: !secret && isSame(value, byDefault) ? [] : [{ act: 'reset', label: t('Reset to the default'), input }],
  };
}

function controlAndValue(
  { control: type, value, secret }: SettingInfo,
  guild: Guild | null,
): Pick<WebField, 'control' | 'value'> {
  if (secret) return { control: { kind: 'text', secret: true, placeholder: String(value) } };
  const control = controlOf(type, guild, secret);
  switch (control.kind) {
    case 'switch':
      return { control: { kind: 'switch' }, value: value === true };
    case 'entity': {
      const many = control.most > 1 ? { many: true } : {};
      const ids = [value].flat().filter((one) => typeof one === 'string');
      return { control: { kind: control.of, ...many }, value: control.most > 1 ? ids : (ids[0] ?? '') };
    }
    case 'choice':
      if (control.most === 1)
        return {
          control: { kind: 'choice', of: control.values.map((one) => ({ value: String(one), text: String(one) })) },
          value: value === undefined || value === null ? '' : String(value),
        };
      break;
    case 'form':
      break;
  }
  if (type.kind === 'number')
    return {
      control: { kind: 'number', whole: type.whole, ...limits(type) },
      ...(typeof value === 'number' ? { value } : {}),
    };
  const text = textOf(type, value);
  const isLong =
    type.kind === 'list' ||
    text.length > 100 ||
    text.includes('\n') ||
    type.kind === 'object' ||
    type.kind === 'anything';
  return {
    control: { kind: 'text', ...(isLong ? { lines: Math.min(12, Math.max(3, text.split('\n').length)) } : {}) },
    value: text,
  };
}

const limits = ({ min, max }: { readonly min?: number; readonly max?: number }) => ({
  ...(min === undefined ? {} : { min }),
  ...(max === undefined ? {} : { max }),
});

/** The value as typed text for `!set`; `undefined` for the default. */
function textFrom(setting: SettingInfo, value: z.output<typeof given> | undefined): Value {
  if (value === undefined) return undefined;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? valueOfForm(setting, value) : value;
}

const auditedValue = (value: z.output<typeof given> | undefined): Value =>
  value === undefined || typeof value === 'string' ? value : Array.isArray(value) ? value : String(value);
