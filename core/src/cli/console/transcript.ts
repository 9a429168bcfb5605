import { visible } from '@cinnabar/sdk';
import type { LocalEvent, LocalMessage, LocalUser } from '@cinnabar/sdk/testing';
import { ConsoleError } from './instruction.js';

/** Gives every message a short id, in the order in which they appear, and turns events into lines. */
export interface Transcript {
  /** Lines to print for an event; none for what a person would not see. */
  lines(event: LocalEvent): readonly string[];
  /** @throws ConsoleError when there is no such message */
  find(id: string): LocalMessage;
  /** The bot's latest message that is not deleted. @throws ConsoleError when there is none */
  latestOf(bot: LocalUser): LocalMessage;
}

/** @param echo whose messages are printed, too: everybody's from a pipe; at a terminal people see what they type */
export function createTranscript(echo: (author: string) => boolean): Transcript {
  const ids = new Map<LocalMessage, string>();
  const byId = new Map<string, LocalMessage>();
  const idOf = (message: LocalMessage) => {
    const known = ids.get(message);
    if (known !== undefined) return known;
    const id = `m${ids.size + 1}`;
    ids.set(message, id);
    byId.set(id, message);
    return id;
  };

  const lines = (event: LocalEvent): readonly string[] => {
    switch (event.type) {
      case 'messageCreate': {
        const id = idOf(event.message);
        return echo(event.message.author.id) ? [`${id} ${heading(event.message)}${body(event.message)}`] : [];
      }
      case 'messageEdit':
        return [`${idOf(event.message)}* ${heading(event.message)}${body(event.message)}`];
      case 'messageDelete':
        // The place of an answer that was put off may go without ever having been seen.
        return ids.has(event.message) ? [`${idOf(event.message)} deleted`] : [];
      case 'reactionAdd':
      case 'reactionRemove': {
        const sign = event.type === 'reactionAdd' ? '+' : '-';
        return echo(event.user.id) ? [`${idOf(event.message)} ${sign}${event.emoji.name} ${event.user.username}`] : [];
      }
      default:
        return [];
    }
  };

  return {
    lines,
    find(id) {
      const message = byId.get(id);
      if (message === undefined) throw new ConsoleError(`There is no message ${id}.`);
      return message;
    },
    latestOf(bot) {
      const latest = [...ids.keys()].filter((message) => message.author.id === bot.id && !message.deleted).at(-1);
      if (latest === undefined) throw new ConsoleError('The bot has not said anything yet.');
      return latest;
    },
  };
}

function heading(message: LocalMessage): string {
  const seenBy = message.visibleTo === undefined ? '' : ` (only @${message.visibleTo.username} sees this)`;
  return `${message.author.username}${seenBy}: `;
}

function body(message: LocalMessage): string {
  const embeds = message.embeds.flatMap((embed) => [
    embed.title,
    embed.description,
    ...(embed.fields ?? []).map((field) => `${field.name}: ${field.value}`),
    embed.footer?.text,
  ]);
  const files = message.attachments.map((file) => `[file ${file.filename}, ${file.data.byteLength} bytes]`);
  const controls = message.components.flatMap(labels).map((label) => `[${label}]`);
  return [harmless(message.content), ...embeds, ...files, controls.join(' ')].filter(Boolean).join('\n');
}

/** The words on buttons and select menus, however deep they sit. */
function labels(component: object): string[] {
  if ('components' in component && Array.isArray(component.components)) return component.components.flatMap(labels);
  if ('label' in component && typeof component.label === 'string') return [component.label];
  if ('placeholder' in component && typeof component.placeholder === 'string') return [component.placeholder];
  return [];
}

/** What a message holds must not steer the terminal: control characters are shown, lines stay lines. */
function harmless(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, visible);
}
