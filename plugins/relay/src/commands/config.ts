import {
  type CommandContext,
  option,
  type SettingInfo,
  type Subcommand,
  subcommand,
  t,
  translated,
  UserError,
  z,
} from '@cinnabar/sdk';
import { cancelForbidden, PLUGIN } from '../agents/permissions.js';
import { CHANNEL_MODES, type ChannelMode } from '../agents/roster.js';
import type { Relay } from '../context.js';
import { ADMIN, guildOf } from './options.js';

export async function enableAgents({ rosters }: Relay, guildId: string): Promise<string> {
  const { agents } = await rosters.update(guildId, (draft) => {
    draft.enabled = true;
  });
  return Object.keys(agents).length === 0
    ? t(
        'The agents of this server are switched on. There is none yet: let one in with `relay agent <id>`. `ai use relay` lets them answer here.',
      )
    : t('The agents of this server are switched on. `ai use relay` lets them answer here.');
}

/** Switches agents off in a guild, and cancels running work. */
export async function disableAgents(relay: Relay, guildId: string): Promise<string> {
  await relay.rosters.update(guildId, (draft) => {
    draft.enabled = false;
  });
  const cancelled = await cancelForbidden(guildId, relay);
  return t('The agents of this server are switched off: they read and post nothing more. {ended}', {
    ended: cancelledText(cancelled),
  });
}

export async function pauseAgents({ rosters }: Relay, guildId: string): Promise<string> {
  await rosters.update(guildId, (draft) => {
    draft.paused = true;
  });
  return t('Paused: messages wait until `relay resume`. A running delivery to an agent continues.');
}

export async function resumeAgents({ rosters, queue }: Relay, guildId: string): Promise<string> {
  await rosters.update(guildId, (draft) => {
    draft.paused = false;
  });
  queue.wake();
  return t('Going on: the agents are told what has waited.');
}

/** The commands `!relay enable`, `disable`, `pause`, `resume` and `mode`. */
export function switchCommands(relay: Relay): readonly Subcommand[] {
  const { rosters } = relay;
  return [
    subcommand({
      name: 'enable',
      description: 'Switch the agents of this server on',
      access: ADMIN,
      run: async (ctx) => ctx.reply(await enableAgents(relay, guildOf(ctx))),
    }),
    subcommand({
      name: 'disable',
      description: 'Switch the agents of this server off, and cut off what is under way',
      access: ADMIN,
      run: async (ctx) => ctx.reply(await disableAgents(relay, guildOf(ctx))),
    }),
    subcommand({
      name: 'pause',
      description: 'Let messages wait until `relay resume`',
      access: ADMIN,
      run: async (ctx) => ctx.reply(await pauseAgents(relay, guildOf(ctx))),
    }),
    subcommand({
      name: 'resume',
      description: 'Go on after `relay pause`',
      access: ADMIN,
      run: async (ctx) => ctx.reply(await resumeAgents(relay, guildOf(ctx))),
    }),
    subcommand({
      name: 'mode',
      description: 'The messages of a channel that reach the agents: always, mention, digest or off',
      help: '`always`: every message. `mention`: what is said to them. `digest`: that, and a summary now and then. `off`: nothing. Threads follow their channel.',
      access: ADMIN,
      options: {
        mode: z.enum(CHANNEL_MODES).optional().describe('The new mode; shows the present ones when left out'),
        channel: option.channel().optional().describe('The channel; this one when left out'),
      },
      examples: ['relay mode', 'relay mode digest', 'relay mode always #lounge'],
      async run(ctx, { mode, channel }) {
        const guildId = guildOf(ctx);
        if (mode === undefined) return ctx.reply(modesText(rosters.of(guildId)?.modes ?? {}));
        const where = channel?.id ?? ctx.channel.id;
        if (ctx.guild?.channels.cache.has(where) !== true) throw new UserError(t('That is no channel of this server.'));
        await rosters.update(guildId, (draft) => {
          draft.modes[where] = mode;
        });
        return ctx.reply(
          t('<#{where}> is in the mode `{mode}` now: {meaning}', { where, mode, meaning: meaningOf(mode) }),
        );
      },
    }),
  ];
}

function cancelledText(cancelled: number): string {
  if (cancelled === 0) return t('Nothing was under way.');
  return t(
    '{count, plural, one {# message that was under way is} other {# messages that were under way are}} cut off.',
    { count: cancelled },
  );
}

export function droppedText(dropped: number): string {
  if (dropped === 0) return t('Nothing was waiting.');
  return t('{count, plural, one {# message that was waiting is} other {# messages that were waiting are}} dropped.', {
    count: dropped,
  });
}

function meaningOf(mode: ChannelMode): string {
  switch (mode) {
    case 'always':
      return t('the agent is told every message, outside quiet hours.');
    case 'mention':
      return t('the agent is told what is said to it.');
    case 'digest':
      return t('the agent is told what is said to it, and now and then what went on.');
    case 'off':
      return t('nothing reaches the agent from there.');
  }
}

function modesText(modes: Readonly<Record<string, ChannelMode>>): string {
  const lines = Object.entries(modes).map(([channelId, mode]) => `• <#${channelId}>: \`${mode}\``);
  return lines.length === 0
    ? t('Every channel is in the mode `mention`: the agent is told what is said to it.')
    : [t('Modes (`mention` everywhere else):'), ...lines].join('\n');
}

export const RESET = 'default';

/** The command `!relay config`: the settings of the server. */
export function configCommand(relay: Relay): Subcommand {
  return subcommand({
    name: 'config',
    description: 'See and change the settings of this server',
    help: `Without a value it shows them. The value \`${RESET}\` undoes a change.`,
    access: ADMIN,
    options: {
      key: option
        .suggested(async (typed, { guildId, userId }) => {
          const all = guildId === null ? [] : await ofGuild(relay, { guildId, userId, channelId: '' });
          return all
            .filter(({ key }) => key.toLowerCase().includes(typed.toLowerCase()))
            .map(({ key }) => ({ name: key, value: key }));
        })
        .optional()
        .describe('Which setting'),
      value: option.rest().optional().describe(`The new value, or \`${RESET}\``),
    },
    examples: ['relay config', 'relay config agent_timeout 120', 'relay config quietHours 22:00-07:00'],
    async run(ctx, { key, value }) {
      const all = await ofGuild(relay, ctx.actor);
      if (key === undefined) return ctx.reply(all.map(settingLine).join('\n'));
      const known = all.find((info) => info.key === key);
      if (known === undefined)
        throw new UserError(
          t('There is no setting "{key}". There are {keys}.', { key, keys: all.map((info) => info.key).join(', ') }),
        );
      if (value === undefined) return ctx.reply(settingLine(known));
      await changeSetting(relay, ctx, key, value);
      relay.queue.wake();
      const now = (await ofGuild(relay, ctx.actor)).find((info) => info.key === key) ?? known;
      return ctx.reply(
        t('`{key}` is {value} now: {description}.', {
          key,
          value: shown(now.value),
          description: translated(now.description),
        }),
      );
    },
  });
}

async function ofGuild({ catalog }: Relay, actor: CommandContext['actor']): Promise<readonly SettingInfo[]> {
  return (await catalog.describe(PLUGIN, actor)).filter(({ scope }) => scope === 'guild');
}

export function changeSetting({ catalog }: Relay, ctx: CommandContext, key: string, value: string): Promise<unknown> {
  return value.trim() === RESET ? catalog.reset(PLUGIN, key, ctx.actor) : catalog.set(PLUGIN, key, value, ctx.actor);
}

function settingLine({ key, value, default: usual, type, description }: SettingInfo): string {
  const by = JSON.stringify(value) === JSON.stringify(usual) ? '' : t(' (by default {usual})', { usual: shown(usual) });
  return `• \`${key}\` = ${shown(value)}${by}: ${description}; ${type}`;
}

function shown(value: unknown): string {
  return value === '' || value === undefined ? 'nothing' : `\`${String(value)}\``;
}
