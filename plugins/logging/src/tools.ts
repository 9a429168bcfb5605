import { type Actor, channelCalled, requireGuildOf, sendingObstacle, t, UserError, z } from '@cinnabar/sdk';
import type { Guild } from 'discord.js';
import { KINDS, type Kind, type LoggingContext } from './event-log.js';

const ADMIN = { tier: 'admin', where: 'guild' } as const;
const ALL: readonly Kind[] = ['edits', 'deletions', 'joins', 'memberChanges', 'channels', 'voice'];

/** Registers the settings of `!set logging` as tools for admins: the logged events, and the channel. */
export function registerTools({ tool, client, settings, services }: LoggingContext): void {
  const overview = async (guild: Guild): Promise<string> => {
    const chosen = await settings.guild(guild).get();
    const lines = await Promise.all(
      ALL.map(async (kind) => {
        if (!chosen[kind]) return `⚪ ${nameOf(kind)}`;
        const place = chosen[KINDS[kind]] ?? chosen.channel;
        if (place === undefined) return `🟢 ${nameOf(kind)} → ${t('nowhere')}`;
        const obstacle = await sendingObstacle(guild, place);
        return `🟢 ${nameOf(kind)} → <#${place}>${obstacle === undefined ? '' : ` ⚠️ ${obstacle}`}`;
      }),
    );
    const isDeaf = chosen.joins && !client.options.intents.has('GuildMembers');
    const warning = t(
      'I do not hear of new members: the owner of the bot has to allow me the intent Server Members, in the Developer Portal and in my configuration (`intents`).',
    );
    return [...lines, ...(isDeaf ? [`⚠️ ${warning}`] : [])].join('\n');
  };

  /** @returns the channel's id; `undefined` for "off". @throws UserError if the actor or the bot cannot write there */
  const placeFor = async (guild: Guild, typed: string, actor: Actor): Promise<string | undefined> => {
    if (typed.toLowerCase() === 'off') return undefined;
    const { id } = channelCalled(guild, typed);
    // The log shows messages from other channels, so it must be a channel that the admin can see.
    if (!(await services.access.mayEnter(actor, { guildId: guild.id, channelId: id }, ['SendMessages'])))
      throw new UserError(t('You cannot write in that channel.'));
    const obstacle = await sendingObstacle(guild, id);
    if (obstacle !== undefined) throw new UserError(obstacle);
    return id;
  };

  tool({
    name: 'set_log',
    description:
      'Choose what is written into the log of this server, and where: everything in one channel, or one kind in a channel of its own. Edits and deletions share a channel, and so do joins and memberChanges (roles and nicknames).',
    input: z.object({
      kind: z
        .enum(['everything', ...ALL])
        .default('everything')
        .describe('What is logged'),
      channel: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .describe('Where: name, mention or id of a channel; "off" for no channel (of its own)'),
      on: z.boolean().optional().describe('Whether that kind is logged'),
    }),
    risk: 'write',
    access: ADMIN,
    examples: [
      'log everything in {channel}',
      'log {kind} in {channel}',
      'switch {on} the log of {kind}',
      'write what happens on this server into {channel}',
    ],
    async run({ kind, channel, on }, { actor }) {
      const guild = requireGuildOf(client, actor);
      if (channel === undefined && on === undefined) throw new UserError(t('Say where, or whether it is logged.'));
      const place = channel === undefined ? undefined : await placeFor(guild, channel, actor);
      const key = kind === 'everything' ? 'channel' : KINDS[kind];
      if (place !== undefined) await settings.guild(guild).set({ [key]: place });
      else if (channel !== undefined) await settings.guild(guild).reset(key);
      const switched = kind === 'everything' ? ALL : [kind];
      if (on !== undefined) await settings.guild(guild).set(Object.fromEntries(switched.map((one) => [one, on])));
      return overview(guild);
    },
    present: { sentence: () => t("I'll change what is logged, and where"), success: (_, text) => text },
  });

  tool({
    name: 'view_log',
    description: 'The logged events of this server, their channels, and problems.',
    input: z.object({}),
    risk: 'read',
    access: ADMIN,
    examples: ['what is logged here?', 'where is the log of this server?'],
    run: (_input, { actor }) => overview(requireGuildOf(client, actor)),
    present: { sentence: () => t("I'll show what is logged, and where"), success: (_, text) => text },
  });
}

function nameOf(kind: Kind): string {
  switch (kind) {
    case 'edits':
      return t('Edited messages');
    case 'deletions':
      return t('Deleted messages');
    case 'joins':
      return t('Joins and leaves');
    case 'memberChanges':
      return t('Roles and nicknames');
    case 'channels':
      return t('Channels');
    case 'voice':
      return t('Voice channels');
  }
}
