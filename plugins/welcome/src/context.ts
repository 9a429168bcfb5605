import {
  Access,
  Clock,
  Languages,
  nameText,
  type PluginContext,
  plainText,
  Random,
  t,
  visible,
  z,
} from '@cinnabar/sdk';

/** Kinds of texts: in the channel, in a direct message, when a member leaves, when a bot is added. */
export const KINDS = ['greeting', 'direct', 'goodbye', 'bot'] as const;
export type Kind = (typeof KINDS)[number];

export const LIMITS = { texts: 10, length: 1_000 } as const;
/** Discord's limit. */
const LONGEST_MESSAGE = 2_000;

/** The member that a text is about, and their server. */
export interface Arrival {
  readonly memberId: string;
  readonly name: string;
  readonly server: string;
  /** The server's member count, including this one. */
  readonly count: number;
}

const PLACEHOLDERS: Readonly<Record<string, (arrival: Arrival) => string>> = {
  member: ({ memberId }) => `<@${memberId}>`,
  name: ({ name }) => plainText(visible(name)),
  server: ({ server }) => plainText(visible(server)),
  count: ({ count }) => String(count),
};
const PLACEHOLDER = /\{(\w+)\}/g;

/** Replaces the placeholders once, so that a name that looks like a placeholder, a mention or markup stays a name. */
export function fillIn(text: string, arrival: Arrival): string {
  const filled = text.replace(PLACEHOLDER, (written, key: string) =>
    Object.hasOwn(PLACEHOLDERS, key) ? (PLACEHOLDERS[key]?.(arrival) ?? written) : written,
  );
  return filled.length <= LONGEST_MESSAGE ? filled : `${filled.slice(0, LONGEST_MESSAGE - 1)}…`;
}

/** Why a text cannot be used; `undefined` if it can. */
export function problemOf(text: string): string | undefined {
  if (text.trim() === '') return t('A text cannot be empty.');
  if (text.length > LIMITS.length)
    return t('A text has at most {most} characters; this one has {length}.', {
      most: LIMITS.length,
      length: text.length,
    });
  const unknown = [...text.matchAll(PLACEHOLDER)]
    .map(([, key = '']) => key)
    .find((key) => !Object.hasOwn(PLACEHOLDERS, key));
  if (unknown === undefined) return undefined;
  return t('I do not know the placeholder {placeholder}; there are {known}.', {
    placeholder: nameText(`{${unknown}}`),
    known: Object.keys(PLACEHOLDERS)
      .map((key) => `{${key}}`)
      .join(', '),
  });
}

export const ID = 'welcome';

const texts = z.array(z.string().min(1).max(LIMITS.length)).max(LIMITS.texts);
const channel = z.string().meta({ kind: 'channel' }).optional();

export const settings = {
  guild: z.object({
    channel: channel.describe('Channel in which new members are greeted; nowhere when it is not set'),
    greetings: texts
      .default(['Welcome to {server}, {member}!'])
      .describe('Greetings for the channel, used in turn. {member}, {name}, {server} and {count} are filled in'),
    directs: texts.default([]).describe('Greetings by direct message, used in turn; none are sent when there are none'),
    goodbyeChannel: channel.describe('Channel in which it is said that a member has left; nowhere when it is not set'),
    goodbyes: texts.default(['{name} has left us.']).describe('What is said then, in turn'),
    bots: texts
      .default([])
      .describe('What is said in the channel when a bot is added, in turn; nothing when there are none'),
    mention: z.boolean().default(true).describe('Whether a greeting pings the new member'),
    afterScreening: z
      .boolean()
      .default(true)
      .describe(
        'Whether members are greeted only after they have accepted the rules of the server, where it has the screening of Discord',
      ),
    mostPerMinute: z
      .int()
      .min(1)
      .max(30)
      .default(5)
      .describe('Greetings in a minute; of more members, as in a raid, only the number is said'),
  }),
};

/** The setting with the texts of a kind. */
export const TEXTS = {
  greeting: 'greetings',
  direct: 'directs',
  goodbye: 'goodbyes',
  bot: 'bots',
} as const satisfies Record<Kind, string>;

export const inject = { access: Access, clock: Clock, languages: Languages, random: Random };

export type WelcomeContext = PluginContext<typeof settings, Record<never, never>, typeof inject>;
