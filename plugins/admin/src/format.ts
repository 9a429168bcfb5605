import {
  type AccessPolicy,
  type CommandContext,
  formatDuration,
  inWords,
  type PluginState,
  permissionName,
  type SettingInfo,
  type SettingType,
  type Suggest,
  type Tier,
  type ToolInfo,
  t,
  translated,
  visible,
} from '@cinnabar/sdk';

const MAX_VALUE = 200;

/** A value as inline code: on one line, with visible control characters, and without a backtick that could end the code. */
export function code(value: unknown): string {
  const text = visible(typeof value === 'string' ? value : (JSON.stringify(value) ?? t('not set'))).replaceAll(
    '`',
    'ˋ',
  );
  const characters = [...text];
  const shown = characters.length <= MAX_VALUE ? text : `${characters.slice(0, MAX_VALUE).join('')}…`;
  return shown.trim() === '' ? t('`(empty)`') : `\`${shown}\``;
}

type Shown = Pick<SettingInfo, 'control' | 'secret'>;

/** The value of a setting for people: channels, roles and members as mentions, durations as they are typed; for a secret, only whether it is set. */
export function shownSetting({ control, secret }: Shown, value: unknown): string {
  if (secret) return code(typeof value === 'string' ? translated(value) : value);
  return shownAs(control, value) ?? code(value);
}

/** The value in a form for people; `undefined` for values that are shown as stored. */
function shownAs(type: SettingType, value: unknown): string | undefined {
  switch (type.kind) {
    case 'mention':
      if (typeof value !== 'string' || !/^\d+$/.test(value)) return undefined;
      return type.of === 'channel' ? `<#${value}>` : type.of === 'role' ? `<@&${value}>` : `<@${value}>`;
    case 'duration':
      return typeof value === 'number' ? code(formatDuration(value)) : undefined;
    case 'list': {
      const items = Array.isArray(value) ? value.map((item) => shownAs(type.of, item)) : [];
      return items.length === 0 || items.includes(undefined) ? undefined : items.join(', ');
    }
    case 'either':
      return type.of.map((one) => shownAs(one, value)).find((text) => text !== undefined);
    default:
      return undefined;
  }
}

export function codes(values: readonly string[]): string {
  return values.map(code).join(', ');
}

export function tierWord(tier: Tier): string {
  switch (tier) {
    case 'everyone':
      return t('everyone');
    case 'mod':
      return t('moderators');
    case 'admin':
      return t('admins');
    case 'guildOwner':
      return t('the owner of the server');
    case 'botOwner':
      return t('the owner of the bot');
  }
}

/** A plugin's state, for use after "the plugin is". */
export function stateWord(state: PluginState): string {
  switch (state) {
    case 'running':
      return t('running');
    case 'stopped':
      return t('stopped');
    case 'failed':
      return t('failed');
    case 'waiting':
      return t('waiting');
  }
}

/** The requirements of a policy: "admins, in servers, with Manage Messages". */
export function whoMay({ tier, tierFrom, member, where }: AccessPolicy): string {
  const parts = [
    tierFrom === undefined ? tierWord(tier ?? 'everyone') : t('as the settings say'),
    where === 'guild' ? t('in servers') : where === 'dm' ? t('in direct messages') : undefined,
    member === undefined || member.length === 0
      ? undefined
      : t('with {permissions}', { permissions: inWords(member.map(permissionName)) }),
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

/** The typed prefix; a mention is shown as a name. */
export function readablePrefix({ prefix, channel }: CommandContext): string {
  return prefix.startsWith('<@') ? `@${channel.client.user.displayName} ` : prefix;
}

/** Discord's maximum number of suggestions. */
export const MAX_SUGGESTIONS = 25;

/** Suggestions for a slash command's option: the names that contain the typed text. */
export function suggestFrom(names: () => readonly string[]): Suggest {
  return (typed) =>
    names()
      .filter((name) => name.toLowerCase().includes(typed.toLowerCase()))
      .slice(0, MAX_SUGGESTIONS)
      .map((name) => ({ name, value: name }));
}

/** The name of a tool's risk. */
export const riskWord = (risk: ToolInfo['risk']): string =>
  ({ read: t('read'), write: t('write'), destructive: t('destructive') })[risk];
