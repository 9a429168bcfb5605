import { z } from '@cinnabar/sdk';
import { type Reading, readEntries } from './entries.js';
import { LEAVES, type Leaf } from './leaves.js';

/** What `recencyWindow` was called at first. */
const OLD_NAME = 'history';

/** The keys that admins may set for their server, none with a default: what they leave open is for the files to say. */
export const guildSettings = z.object({
  ...Object.fromEntries(
    [...LEAVES.values()].filter(({ scope }) => scope !== 'files').map((leaf) => [leaf.path, asSetting(leaf)]),
  ),
  [OLD_NAME]: z.int().min(1).max(200).optional().describe('The earlier name of recencyWindow'),
});

function asSetting({ schema, description, fallback, lowerOnly }: Leaf): z.ZodType {
  const notes = [
    fallback === undefined ? '' : `; ${String(fallback) || 'none'} unless the bot's owner says otherwise`,
    lowerOnly === undefined ? '' : '. Can be lowered, not raised',
  ];
  return z.optional(schema).describe(`${description}${notes.join('')}`);
}

/** What an admin has set, as one layer. */
export function readSettings(values: Readonly<Record<string, unknown>>): Reading {
  const { [OLD_NAME]: recencyWindow, ...others } = values;
  // `undefined` is what nobody has set; the new name wins over the old one.
  const set = [...Object.entries({ recencyWindow }), ...Object.entries(others)].filter(
    ([, value]) => value !== undefined,
  );
  return readEntries(Object.fromEntries(set), { originOf: () => 'setting of the server', file: false });
}
