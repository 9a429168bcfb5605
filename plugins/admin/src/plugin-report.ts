import {
  type PluginInfo,
  type Plugins,
  permissionName,
  type ReloadReport,
  type SettingInfo,
  type ToolInfo,
} from '@cinnabar/sdk';
import { code, codes } from './format.js';

/** `!plugin list`: a line each, with the state in this guild. */
export function listOfPlugins(plugins: Plugins, guildId: string | null): string {
  const lines = plugins
    .list()
    .map(
      (info) =>
        `• ${code(info.id)} ${info.manifest.version}, ${stateIn(plugins, info, guildId)}: ${info.manifest.description}`,
    );
  return [`**Plugins** (${lines.length})`, ...lines].join('\n');
}

/** "running, on here" */
export function stateIn(plugins: Plugins, { id, state }: PluginInfo, guildId: string | null): string {
  if (state !== 'running') return state;
  const enabled = plugins.enabledIn(guildId, id);
  return guildId === null ? 'running' : `running, ${enabled ? 'on' : 'off'} here`;
}

export interface PluginDetails {
  readonly info: PluginInfo;
  readonly state: string;
  readonly settings: readonly SettingInfo[];
  readonly tools: readonly ToolInfo[];
  /** Where files lie on the host, and why a plugin does not run, is for its owner alone. */
  readonly isOperator: boolean;
  /** Permissions that the bot lacks in this server. */
  readonly missing: readonly string[];
}

const OPERATORS = 'the bot’s owner can see what is wrong';
const POWER =
  '⚠️ It does not come with the host, and runs in its process: it can do whatever the bot can, read its memory and its data, and reach any address. What stands above is what it says of itself.';

/** `!plugin info`: what a plugin is, needs, offers and has registered. */
export function detailsOf({ info, state, settings, tools, isOperator, missing }: PluginDetails): string {
  const { manifest } = info;
  const lines: readonly (readonly [label: string, value: string])[] = [
    ['State', state],
    ['Problem', info.problem === undefined || isOperator ? (info.problem ?? '') : OPERATORS],
    ['From', isOperator ? `${info.source}, ${code(info.path)}` : info.source],
    ['Author', manifest.author ?? ''],
    ['Needs host', manifest.host ?? ''],
    [
      'Notes',
      [
        manifest.required ? 'cannot be switched off' : '',
        manifest.guard ? 'tools do not run without it' : '',
        manifest.enabledByDefault === false ? 'off until an admin enables it' : '',
      ]
        .filter((note) => note !== '')
        .join('; '),
    ],
    ['Intents', (manifest.intents ?? []).join(', ')],
    ['Permissions', (manifest.permissions ?? []).map(permissionName).join(', ')],
    ['⚠️ Missing here', missing.map(permissionName).join(', ')],
    ['Environment', codes(info.env)],
    ['Hosts', codes(manifest.hosts ?? [])],
    ['Tools', tools.map(({ name, risk }) => `${code(name)} (${risk})`).join(', ')],
    ['Provides', codes(info.provides)],
    ['Injects', codes(info.injects)],
    ['Settings', codes(settings.map(({ key }) => key))],
    ['Registered', codes(info.effects)],
  ];
  const power = info.source === 'bundled' ? [] : [POWER];
  return [
    `**${manifest.id}** ${manifest.version}: ${manifest.description}`,
    ...lines.filter(([, value]) => value !== '').map(([label, value]) => `${label}: ${value}`),
    ...power,
  ].join('\n');
}

/** What a reload changed. */
export function reloadText({ id, from, to, changes }: ReloadReport): string {
  const versions = from === to ? to : `${from} → ${to}`;
  if (changes.length === 0) return `Reloaded ${code(id)} ${versions}: nothing visible changed.`;
  return [`Reloaded ${code(id)} ${versions}:`, ...changes.map((change) => `• ${change}`)].join('\n');
}
