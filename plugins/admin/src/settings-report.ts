import type { SettingInfo, SettingScope, Tier } from '@cinnabar/sdk';
import { TIERS } from '@cinnabar/sdk';
import { code } from './format.js';

const PLACES: Readonly<Record<SettingScope, string>> = {
  global: 'everywhere',
  guild: 'for this server',
  channel: 'for this channel',
  role: 'by role',
  user: 'for you',
  member: 'for you in this server',
};
const CHANGED_BY: Readonly<Record<SettingScope, Tier>> = {
  global: 'botOwner',
  guild: 'admin',
  channel: 'admin',
  role: 'admin',
  user: 'everyone',
  member: 'everyone',
};

/** Those settings that somebody of the tier may change: nobody else needs to see them. */
export function changeableBy(tier: Tier, settings: readonly SettingInfo[]): readonly SettingInfo[] {
  return settings.filter(({ scope }) => TIERS.indexOf(tier) >= TIERS.indexOf(CHANGED_BY[scope]));
}

export function listOfSettings(plugin: string, settings: readonly SettingInfo[]): string {
  if (settings.length === 0) return `${code(plugin)} has no settings that you may change here.`;
  const isSet = ({ value, default: byDefault }: SettingInfo) => JSON.stringify(value) !== JSON.stringify(byDefault);
  const changed = settings.filter(isSet);
  const others = settings.filter((info) => !isSet(info));
  return [
    `**Settings of ${plugin}**`,
    ...section('Set', changed),
    ...section(changed.length === 0 ? undefined : 'As they come', others),
  ].join('\n');
}

function section(title: string | undefined, settings: readonly SettingInfo[]): readonly string[] {
  if (settings.length === 0) return [];
  const lines = settings.map((info) => `• ${settingLine(info)}`);
  return title === undefined ? lines : [`__${title}__`, ...lines];
}

/** "`style` = `plain` for this server. Card style. One of plain, cyberpunk, terminal; default `plain`." */
export function settingLine({ key, value, scope, description, type, default: byDefault }: SettingInfo): string {
  const about = description === '' ? '' : ` ${sentence(description)}`;
  return `\`${key}\` = ${code(value)} ${PLACES[scope]}.${about} ${sentence(`${capital(type)}; default ${code(byDefault)}`)}`;
}

/** After a change. */
export function changedText({ key, plugin, value, scope, inForce }: SettingInfo): string {
  if (inForce !== undefined && JSON.stringify(inForce.value) !== JSON.stringify(value))
    return `\`${key}\` of ${code(plugin)} is saved as ${code(value)} ${PLACES[scope]}, but here ${code(inForce.value)} holds: ${inForce.origin} decides.`;
  return `\`${key}\` of ${code(plugin)} is ${code(value)} ${PLACES[scope]} now.`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
