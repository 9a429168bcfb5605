import type { Choice } from './choosing.js';

/** What `!ai …` asks for when it is not meant for a mind. */
export type Subcommand = { readonly kind: 'status' } | ({ readonly kind: 'use' } & Choice);

const USE = /^use(?:\s+(?!--)(\S+))?(?:\s+(--here))?$/;

/**
 * Tells `!ai status` and `!ai use [responder] [--here]` from text. Only these exact forms, in lower case, with at most one word
 * after `use`, are subcommands: `!ai Use your head` and `!ai use the force` are said to the bot.
 */
export function subcommandOf(text: string): Subcommand | undefined {
  const words = text.trim();
  if (words === 'status') return { kind: 'status' };
  const match = USE.exec(words);
  return match === null ? undefined : { kind: 'use', responder: match[1], here: match[2] !== undefined };
}
