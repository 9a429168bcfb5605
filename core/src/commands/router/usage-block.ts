import type { Client } from 'discord.js';
import { usageLine, usageOf } from '../options/usage.js';
import type { CommandEntry } from '../registry/entry.js';

/** A prefix as people read it: a mention used as a prefix is no name in a code block. */
export function shownPrefix(prefix: string, client: Client): string {
  const readable = prefix.startsWith('<@') ? `@${client.user?.displayName ?? 'bot'} ` : prefix;
  return readable.replaceAll('`', 'ˋ');
}

/** The usage of a command in a code block, with carets under the option at fault. */
export function usageBlock(entry: CommandEntry, prefix: string, fault: string | undefined): string {
  const start = `${prefix}${entry.name} `;
  const lines = [`${start}${usageLine(entry.specs)}`.trimEnd()];
  const index = entry.specs.findIndex((spec) => spec.name === fault);
  const spec = entry.specs[index];
  if (spec !== undefined) {
    const before = entry.specs.slice(0, index).reduce((width, one) => width + usageOf(one).length + 1, start.length);
    lines.push(' '.repeat(before) + '^'.repeat(usageOf(spec).length));
  }
  return ['```', ...lines, '```'].join('\n');
}
