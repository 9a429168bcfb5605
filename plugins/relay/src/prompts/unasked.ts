import type { RelayEvent } from '../types.js';
import { listed, QUOTING, type Reader, timeOf, toldOf, words } from './parts.js';
import { whereLines } from './server.js';

interface Wording {
  readonly opening: string;
  readonly content: string;
  readonly chain: string;
}

const WORDING: Readonly<Record<'reaction' | 'digest' | 'wake', Wording>> = {
  reaction: {
    opening: 'Somebody reacted to a message of yours on Discord. This is feedback; it needs no reply.',
    content: '**Reactions:**',
    chain: '**Your Message:**',
  },
  digest: {
    opening: 'This is a digest of what went on in a Discord channel. Reply only if you have something to add.',
    content: '**Summary:**',
    chain: '**Latest Messages (oldest first):**',
  },
  wake: {
    opening: 'This is a wake-up on Discord that was planned for you.',
    content: '**What It Is For:**',
    chain: '**Latest Messages (oldest first):**',
  },
};

/** What nobody has said to the agent: reactions, a digest, a wake-up. */
export function unasked(event: RelayEvent, kind: keyof typeof WORDING, reader: Reader): readonly string[] {
  const { at, chain } = event.facts;
  const content = toldOf(event);
  const wording = WORDING[kind];
  const place = event.guildId === null ? [`- Channel (DM) ID: ${event.facts.channel.id}`] : whereLines(event);
  return [
    wording.opening,
    ['**Context:**', ...place, `- Time: ${timeOf(at)}`].join('\n'),
    ...(chain.length === 0 ? [] : [`${wording.chain}\n${listed(chain, reader)}`]),
    ...(content === '' ? [] : [`${wording.content}\n${words(content, reader)}`]),
    QUOTING,
  ];
}
