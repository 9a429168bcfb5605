import { z } from '@cinnabar/sdk';

/**
 * Who may set a key, beside the configuration files, which may set all: `guild` is for admins (`!set chat`), `channel` for them and for
 * whoever may pin a `.config` message.
 */
export type KeyScope = 'files' | 'guild' | 'channel';

export interface KeyTraits {
  readonly description: string;
  readonly scope: KeyScope;
  /** Costs money: admins and pins may lower it (or switch it off), never raise it above what the files say. */
  readonly lowerOnly?: true;
}

/** Traits by schema instance. */
export const keyTraits = z.registry<KeyTraits>();

/** Declares one key of the configuration. */
export function key<S extends z.ZodType>(traits: KeyTraits, schema: S): S {
  const described = schema.describe(traits.description);
  keyTraits.add(described, traits);
  return described;
}
