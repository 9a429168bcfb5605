import {
  attachmentDownloads,
  downloadAttachment,
  option,
  plainText,
  requireGuildId,
  type Subcommand,
  subcommand,
  t,
  UserError,
  withRefusalSentences,
  z,
} from '@cinnabar/sdk';
import { ActivityType, type Attachment, type PresenceData, type PresenceStatusData } from 'discord.js';
import type { AdminContext } from './context.js';

const OWNER = { tier: 'botOwner' } as const;
/** Discord's maximum length of a status text. */
const LONGEST = 128;

const ONLINE = ['online', 'idle', 'dnd', 'invisible'] as const satisfies readonly PresenceStatusData[];
const ACTIVITIES = {
  playing: ActivityType.Playing,
  listening: ActivityType.Listening,
  watching: ActivityType.Watching,
  competing: ActivityType.Competing,
  custom: ActivityType.Custom,
} as const;
const KINDS = ['playing', 'listening', 'watching', 'competing', 'custom'] as const;

/** The settings of the bot's presence, which is shown below its name. */
export const presenceSettings = {
  online: z.enum(ONLINE).default('online').describe('The dot beside the name of the bot'),
  activity: z.enum(KINDS).default('custom').describe('The word before the status text; custom for none'),
  statusText: z.string().max(LONGEST).optional().describe('The text below the name of the bot; none by default'),
} as const;

/** `!bot status`. Also sends the settings to Discord. */
export function presenceCommands(context: AdminContext): readonly Subcommand[] {
  const { client, ready, on, settingsChanged, settings } = context;
  /** Discord starts with the default presence, so a bot with the default sends none. */
  let isDefault = true;
  const show = async () => {
    const { online, activity, statusText } = await settings.global.get();
    const wasDefault = isDefault;
    isDefault = online === 'online' && statusText === undefined;
    if (isDefault && wasDefault) return;
    client.user?.setPresence(presenceOf(online, activity, statusText));
  };
  ready(show);
  // Discord does not keep the presence for a new session.
  on('shardReady', show);
  settingsChanged(({ scope }) => (scope === 'global' ? show() : undefined));

  return [
    subcommand({
      name: 'status',
      description: 'Choose what the bot shows below its name',
      help: 'Kinds: playing, listening, watching, competing, custom (the text alone); online, idle, dnd and invisible change the dot; clear takes the text away.',
      access: OWNER,
      options: {
        kind: z.enum([...KINDS, ...ONLINE, 'clear']).describe('What stands before the text, or the dot'),
        text: option.rest().optional().describe('The text'),
      },
      examples: ['bot status watching over Night City', 'bot status dnd', 'bot status clear'],
      async run(ctx, { kind, text }) {
        if (kind === 'clear') {
          await settings.global.reset('statusText');
          return ctx.reply(t('There is nothing below my name any more.'));
        }
        const dot = ONLINE.find((one) => one === kind);
        const activity = KINDS.find((one) => one === kind);
        if (dot !== undefined)
          await settings.global.set({ online: dot, ...(text === undefined ? {} : { statusText: text }) });
        if (activity !== undefined) {
          if (text === undefined) throw new UserError(t('Please write the text, too.'));
          await settings.global.set({ activity, statusText: text });
        }
        return ctx.reply(t('Done. It stays after a restart.'));
      },
    }),
  ];
}

function presenceOf(
  online: (typeof ONLINE)[number],
  activity: (typeof KINDS)[number],
  text: string | undefined,
): PresenceData {
  if (text === undefined) return { status: online, activities: [] };
  // For a custom status, Discord shows `state`.
  const shown = activity === 'custom' ? { name: 'Custom Status', state: text } : { name: text };
  return { status: online, activities: [{ ...shown, type: ACTIVITIES[activity] }] };
}

const ADMIN = { tier: 'admin', where: 'guild' } as const;
/** Discord's limits on names. */
const LONGEST_NAME = 32;
const SHORTEST_USERNAME = 2;
const MOST_BYTES = 10_000_000;
const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** `!bot nick`, `!bot avatar` and `!bot name`: the bot's appearance, in a server and everywhere. */
export function profileCommands({ client, signal, log, services }: AdminContext): readonly Subcommand[] {
  const pictureOf = async ({ url, contentType }: Attachment): Promise<string> => {
    const type = TYPES.find((one) => contentType?.startsWith(one));
    if (type === undefined) throw new UserError(t('Please attach a picture: PNG, JPEG, GIF or WebP.'));
    const downloads = attachmentDownloads(client, { clock: services.clock, log, signal });
    const read = await downloadAttachment(new URL(url), { ...downloads, maxBytes: MOST_BYTES });
    if (typeof read === 'string') throw new UserError(t('The picture cannot be read, or is too large.'));
    return `data:${type};base64,${read.toString('base64')}`;
  };

  return [
    subcommand({
      name: 'nick',
      description: 'Change the bot’s name in this server',
      access: { ...ADMIN, bot: ['ChangeNickname'] },
      options: { name: option.rest().optional().describe('Its name here; without one, its own') },
      async run(ctx, { name }) {
        if ((name?.length ?? 0) > LONGEST_NAME)
          throw new UserError(t('A name has at most {most} characters.', { most: LONGEST_NAME }));
        const guild = client.guilds.cache.get(requireGuildId(ctx.actor));
        const me = await guild?.members.editMe({ nick: name ?? null });
        await ctx.reply(t('I am called {name} here now.', { name: plainText(me?.displayName ?? name ?? '') }));
      },
    }),
    subcommand({
      name: 'avatar',
      description: 'Change the picture of the bot in this server, or everywhere',
      help: 'Attach a picture; without one, the picture of this server goes, and the bot looks as it does elsewhere.',
      access: { tier: 'admin' },
      options: {
        where: z
          .enum(['here', 'everywhere'])
          .default('here')
          .describe('here: in this server; everywhere: for the owner of the bot'),
        picture: option.attachment().optional().describe('The picture'),
      },
      cooldown: { uses: 2, perMs: 10 * 60_000, by: 'guild' },
      async run(ctx, { where, picture }) {
        if (where === 'everywhere') await ctx.requireAccess(OWNER, 'bot avatar');
        const avatar = picture === undefined ? null : await pictureOf(picture);
        await withRefusalSentences(async () => {
          if (where === 'everywhere') await client.user?.setAvatar(avatar);
          else await client.guilds.cache.get(requireGuildId(ctx.actor))?.members.editMe({ avatar });
        });
        if (where === 'everywhere')
          return ctx.reply(t('This is how I look now, where a server has not chosen otherwise.'));
        return ctx.reply(
          avatar === null ? t('I look here as I do elsewhere now.') : t('This is how I look in this server now.'),
        );
      },
    }),
    subcommand({
      name: 'name',
      description: 'Change the name of the bot everywhere',
      help: 'Discord allows it twice an hour. In one server: `bot nick`.',
      access: OWNER,
      options: { name: option.rest().describe('The new name') },
      async run(ctx, { name }) {
        if (name.length < SHORTEST_USERNAME || name.length > LONGEST_NAME)
          throw new UserError(
            t('A name has {least} to {most} characters.', { least: SHORTEST_USERNAME, most: LONGEST_NAME }),
          );
        await withRefusalSentences(() => client.user?.setUsername(name));
        return ctx.reply(t('I am called {name} now.', { name: plainText(name) }));
      },
    }),
  ];
}
