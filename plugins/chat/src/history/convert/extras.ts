import { inNote } from '@cinnabar/sdk';
import type { Embed, Message, MessageSnapshot, Poll } from 'discord.js';
import { eventOf, isSpoken } from './system.js';

const MAX_FORWARDED = 1_500;

/** What a message holds beside its text and files: a line each, in square brackets. */
export function extrasOf(message: Message): readonly string[] {
  if (!isSpoken(message)) return [`[${eventOf(message)}]`];
  return [
    ...message.messageSnapshots.map(forwarded),
    ...message.stickers.map(({ name }) => `[sticker: ${inNote(name)}]`),
    ...message.embeds.map((embed) => `[embed: ${embedText(embed)}]`),
    ...(message.poll === null ? [] : [`[poll: ${pollText(message.poll)}]`]),
  ];
}

function forwarded(snapshot: MessageSnapshot): string {
  const parts = [
    inNote(snapshot.content ?? '', MAX_FORWARDED),
    ...(snapshot.embeds ?? []).map((embed) => `(embed: ${embedText(embed)})`),
    ...(snapshot.stickers ?? []).map(({ name }) => `(sticker: ${inNote(name)})`),
  ];
  return `[forwarded: ${parts.filter((part) => part !== '').join(' ')}]`;
}

function embedText({ author, title, description, fields, url }: Embed): string {
  const parts = [author?.name, title, description, ...fields.map(({ name, value }) => `${name}: ${value}`)];
  const told = parts.filter((part) => part !== undefined && part !== null && part !== '');
  return inNote(told.length === 0 ? (url ?? 'untitled') : told.join(' | '));
}

function pollText({ question, answers }: Poll): string {
  const choices = answers.map(({ text }) => text ?? '').filter((text) => text !== '');
  return inNote(`${question.text ?? ''} (${choices.join(' / ')})`);
}
