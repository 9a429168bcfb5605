import { arrangement, hindranceError } from './arrangement.js';
import { type PluginRecord, stateOf } from './records.js';
import type { LifecycleContext } from './room.js';
import { injectedTokens } from './tokens.js';

type Room = Pick<LifecycleContext, 'records' | 'services'>;

/** Tokens that a plugin needs and that name nothing at the moment. */
export function unmetTokens({ services }: Room, { definition }: PluginRecord): readonly string[] {
  const needs = definition === undefined ? [] : injectedTokens(definition).needs;
  return needs.filter((token) => services.provision(token) === undefined);
}

/** One sentence on what a plugin waits for. */
export function waitingFor(room: Room, record: PluginRecord): string {
  const hindrance = arrangement(room).hindered.get(record.id);
  if (hindrance?.kind === 'circular') return hindranceError(record.id, hindrance).message;
  const token = hindrance?.token ?? unmetTokens(room, record)[0] ?? '';
  const provider = [...room.records.values()].find(
    ({ id, definition }) => id !== record.id && definition?.provides.some((provided) => provided.id === token),
  );
  if (provider === undefined) return hindranceError(record.id, { kind: 'missing', token }).message;
  const state = stateOf(provider);
  const why = state === 'running' ? 'has not offered it yet' : `is ${state}`;
  return `It waits for ${token}, which "${provider.id}" provides; that plugin ${why}.`;
}
