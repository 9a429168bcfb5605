import { readLogs } from '../cache/logs.js';

/** A line of a person, with the lines before it. */
export interface Line {
  readonly text: string;
  /** The latest line of another person. */
  readonly trigger: string;
  /** Earlier lines of the same person in the same log, oldest first. */
  readonly said: readonly string[];
}

const WINDOW = 20;

export async function linesIn(folder: string): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for (const { messages } of await readLogs(folder)) {
    const byAuthor = new Map<string, string[]>();
    for (const [index, { author, content: text }] of messages.entries()) {
      const said = byAuthor.get(author.id) ?? [];
      const before = messages.slice(Math.max(0, index - WINDOW), index);
      const trigger = before.findLast((message) => message.author.id !== author.id)?.content ?? '';
      lines.push({ text, trigger, said: said.slice(-WINDOW) });
      byAuthor.set(author.id, [...said.slice(1 - WINDOW), text]);
    }
  }
  return lines;
}
