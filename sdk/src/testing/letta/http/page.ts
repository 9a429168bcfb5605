import type { LettaRequest } from './route.js';

/** The page that a request asks for: `limit`, `order` by age, after or before one. Newest first unless asked otherwise. */
export function page<T extends { readonly id: string }>(oldestFirst: readonly T[], { query }: LettaRequest): T[] {
  const order = query.get('order') ?? 'desc';
  const sorted = order === 'asc' ? [...oldestFirst] : [...oldestFirst].reverse();
  const after = sorted.findIndex(({ id }) => id === query.get('after'));
  const before = sorted.findIndex(({ id }) => id === query.get('before'));
  const limit = Number(query.get('limit') ?? 100);
  if (before >= 0) return sorted.slice(Math.max(0, before - limit), before);
  return sorted.slice(after + 1, after + 1 + limit);
}
