import { Access, Clock, Languages, type PluginContext, Provenance, Random, z } from '@cinnabar/sdk';

/** What is logged, by the setting that switches it and the one that gives it a channel of its own. */
export const KINDS = {
  edits: 'messageChannel',
  deletions: 'messageChannel',
  joins: 'memberChannel',
  memberChanges: 'memberChannel',
  channels: 'channelChannel',
  voice: 'voiceChannel',
} as const;
export type Kind = keyof typeof KINDS;

const place = (what: string) =>
  z.string().optional().describe(`Where ${what} logged, if not in \`channel\``).meta({ kind: 'channel' });
const shown = (what: string, byDefault = true) => z.boolean().default(byDefault).describe(`Whether ${what} logged`);

export const settings = {
  guild: z.object({
    channel: z.string().optional().describe('The channel in which everything is logged').meta({ kind: 'channel' }),
    messageChannel: place('edits and deletions are'),
    memberChannel: place('joins, leaves, roles and nicknames are'),
    channelChannel: place('changes of channels are'),
    voiceChannel: place('voice channels are'),
    edits: shown('edited messages are'),
    deletions: shown('deleted messages are'),
    joins: shown('joins and leaves are'),
    memberChanges: shown('changes of roles and nicknames are'),
    channels: shown('created, changed and deleted channels are'),
    voice: shown('joining and leaving voice channels is', false),
    bots: shown('messages of bots are', false),
    ignored: z
      .array(z.string().meta({ kind: 'channel' }))
      .max(100)
      .default([])
      .describe('Channels, and categories, of which nothing is logged'),
  }),
};

export const inject = { access: Access, clock: Clock, languages: Languages, provenance: Provenance, random: Random };

export type LoggingContext = PluginContext<typeof settings, Record<never, never>, typeof inject>;
