import { Access, Clock, Languages, type PluginContext, Random, z } from '@cinnabar/sdk';
import { type Kind, LIMITS } from './texts.js';

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
