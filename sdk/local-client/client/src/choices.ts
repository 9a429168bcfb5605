import type { ChannelType } from 'discord-api-types/v10';
import type { Store } from './store';

/** The choices of a menu, or for an option. */
export interface Choice {
  value: string;
  label: string;
}

export function memberChoices({ guild, world }: Store): Choice[] {
  return (guild?.members ?? world?.people ?? []).map(({ id, name }) => ({ value: id, label: `@${name}` }));
}

export function roleChoices({ guild }: Store): Choice[] {
  return (guild?.roles ?? []).map(({ id, name }) => ({ value: id, label: name.replace(/^(?!@)/, '@') }));
}

/** @param types the accepted types; default: all */
export function channelChoices({ guild }: Store, types: readonly ChannelType[] = []): Choice[] {
  return (guild?.channels ?? [])
    .filter(({ type }) => types.length === 0 || types.includes(type))
    .map(({ id, name }) => ({ value: id, label: `#${name}` }));
}
