import { sanitizeName } from '@cinnabar/sdk';
import type { MentionNames } from '../types.js';

const MARKUP =
  /<@!?(?<user>\d+)>|<@&(?<role>\d+)>|<#(?<channel>\d+)>|<a?:(?<emoji>\w+):\d+>|<t:(?<time>-?\d+)(?::\w)?>|<\/(?<command>[^:<>]+):\d+>/g;

/** Discord's markup as people see it: mentions, emoji, times and commands by name. */
export function readable(
  text: string,
  speakerName: (userId: string) => string | undefined,
  names: MentionNames | undefined,
): string {
  if (!text.includes('<')) return text;
  return text.replace(MARKUP, (markup: string, ...rest: unknown[]) => {
    const groups = rest.at(-1);
    if (typeof groups !== 'object' || groups === null) return markup;
    const found = Object.entries(groups).find(([, value]) => value !== undefined);
    if (found === undefined) return markup;
    const value = String(found[1]);
    switch (found[0]) {
      case 'user':
        return `@${speakerName(value) ?? 'someone'}`;
      case 'role':
        return `@${sanitizeName(names?.role(value) ?? '') || 'a role'}`;
      case 'channel':
        return `#${sanitizeName(names?.channel(value) ?? '') || 'a channel'}`;
      case 'emoji':
        return `:${value}:`;
      case 'time':
        return timeText(Number(value));
      default:
        return `/${value}`;
    }
  });
}

function timeText(seconds: number): string {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? 'some time' : time.toISOString().replace(/:\d\d\.000Z$/, ' UTC');
}
