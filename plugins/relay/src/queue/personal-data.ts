import type { RelayEvent } from '../types.js';

/** Whether the event holds this person's words, or is about something that they did. */
export function wroteIn({ userId, facts }: RelayEvent, person: string): boolean {
  return userId === person || facts.author?.id === person || facts.chain.some(({ authorId }) => authorId === person);
}

/** The event without that person: of their own nothing is left, another's loses their part of the reply chain. */
export function without(event: RelayEvent, person: string): RelayEvent | undefined {
  const { userId, facts } = event;
  if (userId === person || facts.author?.id === person) return undefined;
  const chain = facts.chain.filter(({ authorId }) => authorId !== person);
  return chain.length === facts.chain.length ? event : { ...event, facts: { ...facts, chain } };
}
