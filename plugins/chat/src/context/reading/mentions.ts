import { sanitizeName } from '@cinnabar/sdk';
import type { MentionNames } from '../types.js';

/** User, role, channel, emoji, time, command. */
const MARKUP = /<(?:@!?(\d+)|@&(\d+)|#(\d+)|a?:(\w+):\d+|t:(-?\d+)(?::\w)?|\/([^:<>]+):\d+)>/g;

/** Discord's markup as people see it: mentions, emoji, times and commands by name. */
export function readable(
  text: string,
  speakerName: (userId: string) => string | undefined,
  names: MentionNames | undefined,
): string {
  if (!text.includes('<')) return text;
  return text.replace(
    MARKUP,
    (_markup, user?: string, role?: string, channel?: string, emoji?: string, time?: string, command?: string) => {
      if (user !== undefined) return `@${speakerName(user) ?? 'someone'}`;
      if (role !== undefined) return `@${sanitizeName(names?.role(role) ?? '') || 'a role'}`;
      if (channel !== undefined) return `#${sanitizeName(names?.channel(channel) ?? '') || 'a channel'}`;
      if (emoji !== undefined) return `:${emoji}:`;
      return time === undefined ? `/${command}` : timeText(Number(time));
    },
  );
}

function timeText(seconds: number): string {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? 'some time' : time.toISOString().replace(/:\d\d\.000Z$/, ' UTC');
}
