import { CinnabarError } from '@cinnabar/sdk';

/** https://discord.com/developers/docs/components/reference#anatomy-of-a-component-custom-id */
const MAX_LENGTH = 100;
const OURS = /^([a-z][a-z0-9-]{0,31}):([\w-]{1,32})(?::(.*))?$/s;

/** What a `custom_id` of ours says. It comes back from a client, so it is a claim. */
export interface ParsedId {
  readonly plugin: string;
  readonly name: string;
  readonly args: readonly string[];
}

/**
 * `plugin:name:arg:arg`, with `:` and `%` in arguments escaped.
 * @throws CINNABAR_NAME_INVALID when Discord would refuse it as too long
 */
export function encodeCustomId(plugin: string, name: string, args: readonly string[]): string {
  const id = [plugin, name, ...args.map(escapePart)].join(':');
  if (id.length > MAX_LENGTH) {
    throw new CinnabarError('CINNABAR_NAME_INVALID', {
      kind: 'component',
      name,
      detail: `with its arguments its custom id has ${id.length} characters, and Discord allows ${MAX_LENGTH}`,
    });
  }
  return id;
}

/** `undefined` when the id has not the form of ours. */
export function decodeCustomId(id: string): ParsedId | undefined {
  const [, plugin, name, rest] = OURS.exec(id) ?? [];
  if (plugin === undefined || name === undefined) return undefined;
  return { plugin, name, args: rest === undefined ? [] : rest.split(':').map(unescapePart) };
}

function escapePart(part: string): string {
  return part.replaceAll('%', '%25').replaceAll(':', '%3A');
}

function unescapePart(part: string): string {
  return part.replaceAll('%3A', ':').replaceAll('%25', '%');
}
