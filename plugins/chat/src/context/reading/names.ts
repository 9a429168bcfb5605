import { type Named, participantNames, sanitizeName } from '@cinnabar/sdk';
import type { HistoryMessage } from '../../history/types.js';
import type { MentionNames } from '../types.js';

/** What the model could take for something other than a person. */
const RESERVED = ['System', 'Assistant', 'User', 'Human', 'Developer', 'Tool', 'Function', 'everyone', 'here'];
const UNNAMED = 'Cinnabar';

export function selfName(...candidates: readonly (string | undefined)[]): string {
  return candidates.map((name) => sanitizeName(name ?? '')).find((name) => name !== '') ?? UNNAMED;
}

/**
 * Names by speaker, each unlike every other, the bot's and a role's. Those in `kept` stay as they are, whatever people call themselves
 * by now: text with them is in the provider's cache. Newcomers of the same name get their username beside it.
 */
export function nameSpeakers(
  people: Iterable<Named>,
  self: string,
  kept: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const known = new Map(Object.entries(kept));
  const newcomers = [...people].filter(({ id }) => !known.has(id));
  if (newcomers.length === 0) return known;
  const names = participantNames(newcomers, [self, ...RESERVED, ...known.values()]);
  return new Map([...known, ...newcomers.map(({ id }) => [id, names.get(id) ?? `member ${id}`] as const)]);
}

/** Who speaks in the messages, or is spoken to, in order. Each is named as in the latest message. */
export function peopleIn(
  messages: readonly HistoryMessage[],
  mentioned: (id: string) => Omit<Named, 'id'> | undefined,
): readonly Named[] {
  const people = new Map<string, Named>();
  for (const { author, content } of messages) {
    if (!author.self) {
      people.set(author.speaker, {
        id: author.speaker,
        displayName: author.displayName,
        username: author.bot && author.speaker !== author.id ? 'webhook' : author.username,
      });
    }
    if (!content.includes('<@')) continue;
    for (const [, id = ''] of content.matchAll(/<@!?(\d+)>/g)) {
      if (people.has(id)) continue;
      const name = mentioned(id);
      people.set(id, { id, displayName: name?.displayName ?? '', username: name?.username ?? '' });
    }
  }
  return [...people.values()];
}

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
