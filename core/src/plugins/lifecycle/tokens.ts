import type { Injection, Plugin } from '@cinnabar/sdk';
import type { Dependent } from '../order.js';

/** Ids of the tokens that a plugin injects. */
export function injectedTokens({ inject }: Plugin): {
  readonly needs: readonly string[];
  readonly likes: readonly string[];
} {
  const injections = Object.values(inject);
  const ids = (kind: Injection['kind']) =>
    injections.flatMap((injection) => (injection.kind === kind ? [idOf(injection)] : []));
  return { needs: ids('token'), likes: ids('optional') };
}

/** The plugin as the order of starting sees it. */
export function asDependent(plugin: Plugin): Dependent {
  return { id: plugin.manifest.id, ...injectedTokens(plugin), provides: plugin.provides.map(({ id }) => id) };
}

function idOf(injection: Injection): string {
  return injection.kind === 'optional' ? injection.token.id : injection.id;
}
