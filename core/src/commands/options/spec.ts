import type { OptionTraits, Suggest, z } from '@cinnabar/sdk';

export type OptionKind = 'text' | 'integer' | 'number' | 'boolean' | 'choice' | NonNullable<OptionTraits['kind']>;

export interface Choice {
  /** What members type and see. */
  readonly label: string;
  readonly value: unknown;
}

/** One option of a command, as the parser, the slash menu and the help need it. Derived from its schema alone. */
export interface OptionSpec {
  readonly name: string;
  readonly description: string;
  readonly kind: OptionKind;
  readonly required: boolean;
  readonly schema: z.ZodType;
  /** What the schema is given when the member leaves the option out. */
  readonly absent: undefined | null;
  readonly default: unknown;
  /** Empty unless `kind` is `choice`. */
  readonly choices: readonly Choice[];
  /** Inclusive bounds: of numbers, of a duration in milliseconds, or of the length of text. */
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly channelTypes: OptionTraits['channelTypes'];
  readonly suggest: Suggest | undefined;
}
