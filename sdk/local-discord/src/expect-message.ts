import { MessageFlags } from 'discord-api-types/v10';
import { compareIds } from './snowflakes.js';
import type { LocalApplication } from './state/applications.js';
import type { LocalChannel } from './state/channels.js';
import type { LocalEvent } from './state/events.js';
import type { LocalMessage, MessageAuthor } from './state/messages.js';
import { createWaiters, PATIENCE_MS } from './waiters.js';
import type { World } from './world.js';

/** Selects the awaited message: it must match every given property. */
export interface ExpectedMessage {
  channel?: LocalChannel;
  /** Default: any bot or webhook. */
  author?: MessageAuthor | LocalApplication;
  /** The whole content, or a pattern in it. */
  content?: string | RegExp;
  /** Any other condition: `where: (message) => message.embeds.length > 0`. */
  where?: (message: LocalMessage) => boolean;
  /** Only messages after this one. Default: messages that no earlier `expectMessage` has returned. */
  since?: LocalMessage;
  /** Time limit in real time; default: 10,000. */
  timeoutMs?: number;
}

export type ExpectMessage = (expected: ExpectedMessage) => Promise<LocalMessage>;

const SHOWN = 15;

/** Also returns ephemeral messages, and a returned message again after an edit. */
export function createExpectMessage(world: World, observers: Observers): ExpectMessage {
  const returned = new WeakMap<LocalMessage, number>();
  const find = (expected: ExpectedMessage): LocalMessage | undefined => {
    for (const channel of expected.channel ? [expected.channel] : world.channels.values()) {
      for (const message of channel.messagesById.values()) {
        if (isNew(message, expected) && fits(message, expected)) return message;
      }
    }
    return undefined;
  };
  const isNew = (message: LocalMessage, { since }: ExpectedMessage) =>
    since ? compareIds(message.id, since.id) > 0 : (returned.get(message) ?? 0) < message.revision;
  const claim = (message: LocalMessage) => {
    returned.set(message, message.revision);
    return message;
  };
  return async (expected) => {
    const present = find(expected);
    if (present) return claim(present);
    const waiters = createWaiters();
    let found: LocalMessage | undefined;
    const stop = observers.observe((event) => {
      if (found || (event.type !== 'messageCreate' && event.type !== 'messageEdit')) return;
      if (!isNew(event.message, expected) || !fits(event.message, expected)) return;
      found = claim(event.message);
      waiters.release();
    });
    const timeoutMs = expected.timeoutMs ?? PATIENCE_MS;
    try {
      await waiters.wait(timeoutMs, () => explain(world, expected, timeoutMs));
    } finally {
      stop();
    }
    if (!found) throw new Error(explain(world, expected, timeoutMs));
    return found;
  };
}

function fits(message: LocalMessage, { channel, author, content, where }: ExpectedMessage): boolean {
  if (channel && message.channel !== channel) return false;
  if (author ? message.author.id !== author.id : !message.author.bot) return false;
  if (typeof content === 'string' && message.content !== content) return false;
  if (content instanceof RegExp && !content.test(message.content)) return false;
  return (message.flags & MessageFlags.Loading) === 0 && (where?.(message) ?? true);
}

function explain(world: World, expected: ExpectedMessage, timeoutMs: number): string {
  const seen = [...(expected.channel ? [expected.channel] : world.channels.values())]
    .flatMap((channel) => [...channel.messagesById.values()])
    .sort((a, b) => compareIds(a.id, b.id))
    .slice(-SHOWN)
    .map((message) => `  #${message.channel.name || 'DM'} ${message.author.username}: ${summary(message)}`);
  const wanted = [
    expected.author
      ? `by ${'username' in expected.author ? expected.author.username : expected.author.name}`
      : 'by a bot',
    expected.channel ? `in #${expected.channel.name || 'DM'}` : '',
    expected.content === undefined ? '' : `with ${String(expected.content)}`,
  ];
  const list = seen.length > 0 ? `The last messages were:\n${seen.join('\n')}` : 'There were no messages.';
  return `No message ${wanted.filter(Boolean).join(' ')} within ${timeoutMs} ms. ${list}`;
}

function summary(message: LocalMessage): string {
  const extras = [
    message.ephemeral ? 'ephemeral' : '',
    message.embeds.length > 0 ? `${message.embeds.length} embeds` : '',
    message.components.length > 0 ? 'components' : '',
    message.attachments.length > 0 ? `${message.attachments.length} files` : '',
  ].filter(Boolean);
  return JSON.stringify(message.content) + (extras.length > 0 ? ` (${extras.join(', ')})` : '');
}

export interface Observers {
  notify(event: LocalEvent): void;
  /** Calls the function for every event. @returns a function that stops it */
  observe(listener: (event: LocalEvent) => void): () => void;
}

export function createObservers(): Observers {
  const listeners = new Set<(event: LocalEvent) => void>();
  return {
    notify: (event) => {
      for (const listener of listeners) listener(event);
    },
    observe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
