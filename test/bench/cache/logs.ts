import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { chat } from '../../plugins/chat/context/harness.js';

/** A message of a channel's history. */
type HistoryMessage = ReturnType<typeof chat>[number];

const MINUTE_MS = 60_000;
/** An arbitrary day: snowflakes need a time. */
const FIRST_ID = 10 ** 17;

/** The messages of a channel, oldest first. */
export interface Log {
  readonly name: string;
  readonly messages: readonly HistoryMessage[];
}

/** Reads every `*.jsonl` of a folder: one object per line with `minute`, `author` and `text`. Messages of one minute are distributed over it. */
export async function readLogs(folder: string): Promise<readonly Log[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort();
  if (names.length === 0) throw new Error(`There are no .jsonl files in ${folder}.`);
  return Promise.all(
    names.map(async (name) => ({ name, messages: toMessages(await readFile(join(folder, name), 'utf8')) })),
  );
}

function toMessages(jsonl: string): readonly HistoryMessage[] {
  const lines = jsonl
    .split('\n')
    .filter((line) => line !== '')
    .map((line): { minute: number; author: string; text: string } => JSON.parse(line));
  const perMinute = new Map<number, number>();
  for (const { minute } of lines) perMinute.set(minute, (perMinute.get(minute) ?? 0) + 1);
  const seen = new Map<number, number>();
  const ids = new Map([...new Set(lines.map(({ author }) => author))].map((author, index) => [author, `${index + 1}`]));
  return lines.map(({ minute, author, text }, index) => {
    const place = seen.get(minute) ?? 0;
    seen.set(minute, place + 1);
    const createdAt = minute * MINUTE_MS + Math.floor((place * MINUTE_MS) / (perMinute.get(minute) ?? 1));
    return said({
      id: String(FIRST_ID + index * 16),
      author,
      userId: ids.get(author) ?? '0',
      content: text,
      createdAt,
    });
  });
}

interface Said {
  readonly id: string;
  readonly author: string;
  readonly userId: string;
  readonly content: string;
  readonly createdAt: number;
}

export function said({ id, author, userId, content, createdAt }: Said): HistoryMessage {
  return {
    id,
    channelId: '1',
    author: { id: userId, speaker: userId, displayName: author, username: author, bot: false, self: false },
    content,
    createdAt,
    editedAt: null,
    replyTo: null,
    attachments: [],
    extras: [],
    reactions: [],
  };
}
