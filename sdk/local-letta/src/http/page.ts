import type { LettaRequest } from './route.js';

/** The page that a request asks for: `limit`, `order` by age, after or before one in that order. Newest first unless asked otherwise. */
export function page<T extends { readonly id: string }>(oldestFirst: readonly T[], { query }: LettaRequest): T[] {
  const order = query.get('order') ?? 'desc';
  const sorted = order === 'asc' ? [...oldestFirst] : [...oldestFirst].reverse();
  const after = sorted.findIndex(({ id }) => id === query.get('after'));
  const before = sorted.findIndex(({ id }) => id === query.get('before'));
  const limit = Number(query.get('limit') ?? 100);
  if (before >= 0) return sorted.slice(Math.max(0, before - limit), before);
  return sorted.slice(after + 1, after + 1 + limit);
}

/**
 * A page of messages. Cursors go by time, whatever the order: `before` is older, `after` newer. `order` says from which end the page is
 * taken; an agent's own messages come oldest first all the same, those of a conversation and of a run in the order that was asked for.
 */
export function messagePage<T extends { readonly id: string }>(
  oldestFirst: readonly T[],
  { query }: LettaRequest,
  route: 'agent' | 'conversation',
): T[] {
  const position = (id: string | null) => oldestFirst.findIndex((message) => message.id === id);
  const [after, before] = [position(query.get('after')), position(query.get('before'))];
  const between = oldestFirst.slice(after + 1, before < 0 ? undefined : before);
  const limit = Number(query.get('limit') ?? 100);
  if (query.get('order') === 'asc') return between.slice(0, limit);
  const newest = between.slice(Math.max(0, between.length - limit));
  return route === 'agent' ? newest : newest.reverse();
}
