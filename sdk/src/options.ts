import type { Attachment, ChannelType, GuildBasedChannel, GuildMember, Role, User } from 'discord.js';
import { z } from 'zod';

/** A command's options by name, in the order in which they are typed. Required ones come first. */
export type OptionShape = Readonly<Record<string, z.ZodType>>;
export type OptionValues<S extends OptionShape> = { readonly [K in keyof S]: z.output<S[K]> };

/** What `option.*` helpers attach to a schema, read by the parser, the slash builder and the help. */
export interface OptionTraits {
  /** How text or a slash value becomes the option's value; plain zod types need none. */
  readonly kind?: 'user' | 'member' | 'role' | 'channel' | 'attachment' | 'duration' | 'rest';
  /** For `channel`: which types may be chosen. */
  readonly channelTypes?: readonly ChannelType[];
  /** Suggests values while the member types; at most 25 are shown. */
  readonly suggest?: Suggest;
}

export interface Suggestion {
  readonly name: string;
  readonly value: string;
}
export type Suggest = (
  typed: string,
  where: { readonly guildId: string | null; readonly userId: string },
) => readonly Suggestion[] | Promise<readonly Suggestion[]>;

/** Traits by schema instance. Weak: a schema that goes takes its traits along. */
export const optionTraits = z.registry<OptionTraits>();

function entity<T extends { id: string }>(what: string, traits: OptionTraits): z.ZodType<T, T> {
  return z
    .custom<T>((value) => typeof value === 'object' && value !== null && 'id' in value, `expected a ${what}`)
    .register(optionTraits, traits);
}

/** Helpers for options that plain zod types cannot express. Add `.optional()`, `.default()` or `.describe()` as usual. */
export const option = {
  /** A Discord user: mention, id or name. */
  user: () => entity<User>('user', { kind: 'user' }),
  /** A member of this guild: mention, id, name or nickname. */
  member: () => entity<GuildMember>('member', { kind: 'member' }),
  role: () => entity<Role>('role', { kind: 'role' }),
  /** A channel of this guild, of one of `types` when given. */
  channel: (types?: readonly ChannelType[]) =>
    entity<GuildBasedChannel>(
      'channel',
      types === undefined ? { kind: 'channel' } : { kind: 'channel', channelTypes: types },
    ),
  /** A file: attached to the message, or chosen in the slash menu. */
  attachment: () => entity<Attachment>('file', { kind: 'attachment' }),
  /** `90s`, `10m`, `1h30m`, `2d`; the value is in milliseconds. */
  duration: () => z.number().int().nonnegative().register(optionTraits, { kind: 'duration' }),
  /** Everything that is left of the line, spaces and quotes kept. Must be the last option. */
  rest: () => z.string().min(1).register(optionTraits, { kind: 'rest' }),
  /** A text option with suggestions while typing. */
  suggested: (suggest: Suggest) => z.string().min(1).register(optionTraits, { suggest }),
} as const;
