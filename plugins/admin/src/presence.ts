import { option, type Subcommand, subcommand, t, UserError, z } from '@cinnabar/sdk';
import { ActivityType, type PresenceData, type PresenceStatusData } from 'discord.js';
import type { AdminContext } from './context.js';

const OWNER = { tier: 'botOwner' } as const;
/** Discord's limit. */
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

/** What the bot shows of itself below its name. */
export const presenceSettings = {
  online: z.enum(ONLINE).default('online').describe('The dot beside the name of the bot'),
  activity: z.enum(KINDS).default('custom').describe('What stands before the status text; custom for nothing'),
  statusText: z.string().max(LONGEST).optional().describe('The text below the name of the bot; none by default'),
} as const;

/** `!bot status`, and what keeps Discord in line with the settings. */
export function presenceCommands(context: AdminContext): readonly Subcommand[] {
  const { client, ready, on, settingsChanged, settings } = context;
  /** Discord starts with these; a bot that never chose a presence sends none. */
  let isDefault = true;
  const show = async () => {
    const { online, activity, statusText } = await settings.global.get();
    const wasDefault = isDefault;
    isDefault = online === 'online' && statusText === undefined;
    if (isDefault && wasDefault) return;
    client.user?.setPresence(presenceOf(online, activity, statusText));
  };
  ready(show);
  // A new session begins without it.
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
  // Of a custom status Discord shows `state`.
  const shown = activity === 'custom' ? { name: 'Custom Status', state: text } : { name: text };
  return { status: online, activities: [{ ...shown, type: ACTIVITIES[activity] }] };
}
