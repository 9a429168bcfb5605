import type { RelayEvent } from '../types.js';

/** Whether the event holds this person's words, or is about something that they did. */
export function wroteIn({ userId, facts }: RelayEvent, person: string): boolean {
  const isTheirs = ({ authorId }: { readonly authorId: string }) => authorId === person;
  if (userId === person || facts.author?.id === person) return true;
  return facts.chain.some(isTheirs) || facts.lines?.some(isTheirs) === true;
}

/** The event without that person: of their own nothing is left, another's loses their part of what it tells. */
export function without(event: RelayEvent, person: string): RelayEvent | undefined {
  const { userId, facts } = event;
  if (userId === person || facts.author?.id === person) return undefined;
  if (!wroteIn(event, person)) return event;
  const chain = facts.chain.filter(({ authorId }) => authorId !== person);
  const lines = facts.lines?.filter(({ authorId }) => authorId !== person);
  return { ...event, facts: { ...facts, chain, ...(lines === undefined ? {} : { lines }) } };
}
